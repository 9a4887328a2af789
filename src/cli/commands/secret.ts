import { Command } from "commander";
import { PlugboardError, isSecretName, secretName } from "../../index.ts";
import type { VaultPlace } from "../../index.ts";
import { keepSecret } from "../keep-secret.ts";
import { count, json, painter, safe, table } from "../terminal/print.ts";
import { readSecretValue } from "../terminal/secret-value.ts";

import type { Terminal } from "../terminal/terminal.ts";
import { verb, withWorkspace } from "../verb.ts";
import type { CommonOptions } from "../verb.ts";

interface SetOptions extends CommonOptions {
  fromEnv?: string;
}

export function command(terminal: Terminal): Command {
  return new Command("secret")
    .description("Values for `${secret:NAME}`, kept encrypted and never shown again.")
    .addCommand(setCommand(terminal))
    .addCommand(listCommand(terminal))
    .addCommand(removeCommand(terminal))
    .addHelpText("after", "\nExamples:\n  plugboard secret set ISSUES_TOKEN\n  plugboard secret list --json");
}

function setCommand(terminal: Terminal): Command {
  return (
    verb(
      "set",
      "Keep a value. It is asked for without being shown, or read from elsewhere; never an argument.",
      [
        "secret set ISSUES_TOKEN",
        "secret set ISSUES_TOKEN --from-env GITHUB_TOKEN",
        "secret set ISSUES_TOKEN - < token.txt",
      ],
    )
      .argument("<name>", "as in ${secret:NAME}")
      .argument("[input...]", "`-` reads the value from standard input")
      .option("--from-env <variable>", "take the value of this variable")
      // A value that begins with a dash must not come back in an error about options.
      .allowUnknownOption()
      .action(async (name: string, input: string[], options: SetOptions) => {
        assertName(name);
        const value = await readSecretValue(name, { input, fromEnv: options.fromEnv }, terminal);
        await withWorkspace(terminal, options, async (workspace) => {
          const vault = await workspace.vault();
          const place = await keepSecret(vault, name, value);
          if (options.json) return terminal.out(json({ set: name, vault: vault.path, key: place }));
          const words = `the encrypted vault ${vault.path}, whose key is in ${keyWords[place]}`;
          terminal.out(`Kept ${name} in ${safe(words)}.\nUse it as \${secret:${name}}.\n`);
        });
      })
  );
}

function listCommand(terminal: Terminal): Command {
  return verb("list", "List the names, and when each was set. Values are never shown.", [
    "secret list",
    "secret list --json",
  ]).action(async (options: CommonOptions) =>
    withWorkspace(terminal, options, async (workspace) => {
      const vault = await workspace.vault();
      const prefix = secretName("");
      const { entries, problems } = await vault.list(prefix);
      const secrets = entries.map(({ name, setAt, place }) => ({
        name: name.slice(prefix.length),
        setAt: new Date(setAt).toISOString(),
        key: place,
      }));
      if (options.json) {
        return terminal.out(
          json({ secrets, vault: vault.path, unreadable: problems.map((one) => one.toJSON()) }),
        );
      }
      const rows = secrets.map(({ name, setAt, key }) => [
        name,
        setAt.slice(0, 16).replace("T", " "),
        keyWords[key],
      ]);
      if (rows.length > 0) terminal.out(table(["NAME", "SET (UTC)", "KEY IN"], rows, painter(terminal)));
      else if (problems.length === 0)
        terminal.out("No secrets are kept. Add one: plugboard secret set NAME\n");
      for (const message of new Set(problems.map((problem) => `${problem.message} ${problem.hint}`))) {
        const paint = painter(terminal, "err");
        const words = `${count(problems.length, "record")} cannot be read now. ${message}`;
        terminal.err(`${paint("yellow", "warning:")} ${safe(words)}\n`);
      }
    }),
  );
}

function removeCommand(terminal: Terminal): Command {
  return verb("remove", "Forget a secret.", ["secret remove ISSUES_TOKEN"])
    .argument("<name>", "as in ${secret:NAME}")
    .action(async (name: string, options: CommonOptions) => {
      assertName(name);
      await withWorkspace(terminal, options, async (workspace) => {
        const wasThere = await (await workspace.vault()).delete(secretName(name));
        if (!wasThere) {
          throw new PlugboardError("value-missing", `There is no secret ${name}.`, {
            hint: "`plugboard secret list` shows the names.",
          });
        }
        terminal.out(options.json ? json({ removed: name }) : `Removed ${name}.\n`);
      });
    });
}

/** None of these messages repeats what was typed: it may be the value, in the wrong place. */
function assertName(name: string): void {
  if (isSecretName(name)) return;
  throw new PlugboardError(
    "usage-invalid",
    "A secret's name has letters, digits, `_`, `-` and `.`, and at most 128 characters.",
    { hint: "The value is asked for afterwards: plugboard secret set NAME" },
  );
}

const keyWords: Record<VaultPlace, string> = {
  keychain: "the keychain",
  passphrase: "PLUGBOARD_VAULT_PASSPHRASE",
  file: "vault.key beside it",
  memory: "memory",
};
