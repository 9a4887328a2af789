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
    .description("Manage values for `${secret:NAME}`. They are stored encrypted and never shown.")
    .addCommand(setCommand(terminal))
    .addCommand(listCommand(terminal))
    .addCommand(removeCommand(terminal))
    .addHelpText("after", "\nExamples:\n  plugboard secret set ISSUES_TOKEN\n  plugboard secret list --json");
}

function setCommand(terminal: Terminal): Command {
  return (
    verb(
      "set",
      "Store a secret. Asks for the value without showing it, or reads it from stdin or a variable; never from an argument.",
      [
        "secret set ISSUES_TOKEN",
        "secret set ISSUES_TOKEN --from-env GITHUB_TOKEN",
        "secret set ISSUES_TOKEN - < token.txt",
      ],
    )
      .argument("<name>", "as in ${secret:NAME}")
      .argument("[input...]", "`-` reads the value from standard input")
      .option("--from-env <variable>", "read the value from this environment variable")
      // An unknown-option error would print a value that starts with a dash.
      .allowUnknownOption()
      .action(async (name: string, input: string[], options: SetOptions) => {
        assertName(name);
        const value = await readSecretValue(name, { input, fromEnv: options.fromEnv }, terminal);
        await withWorkspace(terminal, options, async (workspace) => {
          const vault = await workspace.vault();
          const place = await keepSecret(vault, name, value);
          if (options.json) return terminal.out(json({ set: name, vault: vault.path, key: place }));
          const words = `the encrypted vault ${vault.path}, whose key is in ${keyWords[place]}`;
          terminal.out(`Saved ${name} in ${safe(words)}.\nUse it as \${secret:${name}}.\n`);
        });
      })
  );
}

function listCommand(terminal: Terminal): Command {
  return verb("list", "List the names of the secrets and when each was set. Never shows values.", [
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
        terminal.out("No secrets are stored. To add one, run: plugboard secret set NAME\n");
      for (const message of new Set(problems.map((problem) => `${problem.message} ${problem.hint}`))) {
        const paint = painter(terminal, "err");
        const words = `${count(problems.length, "record")} cannot be read. ${message}`;
        terminal.err(`${paint("yellow", "warning:")} ${safe(words)}\n`);
      }
    }),
  );
}

function removeCommand(terminal: Terminal): Command {
  return verb("remove", "Delete a secret.", ["secret remove ISSUES_TOKEN"])
    .argument("<name>", "as in ${secret:NAME}")
    .action(async (name: string, options: CommonOptions) => {
      assertName(name);
      await withWorkspace(terminal, options, async (workspace) => {
        const existed = await (await workspace.vault()).delete(secretName(name));
        if (!existed) {
          throw new PlugboardError("value-missing", `Unknown secret: ${name}`, {
            hint: "Run `plugboard secret list` to see the names.",
          });
        }
        terminal.out(options.json ? json({ removed: name }) : `Removed ${name}.\n`);
      });
    });
}

/** These messages never repeat the input, because it may be the value in the wrong place. */
function assertName(name: string): void {
  if (isSecretName(name)) return;
  throw new PlugboardError(
    "usage-invalid",
    "A secret's name may contain letters, digits, `_`, `-` and `.`, and at most 128 characters.",
    { hint: "Run `plugboard secret set NAME`; it then asks for the value." },
  );
}

const keyWords: Record<VaultPlace, string> = {
  keychain: "the keychain",
  passphrase: "PLUGBOARD_VAULT_PASSPHRASE",
  file: "vault.key next to it",
  memory: "memory",
};
