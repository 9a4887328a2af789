import { Command } from "commander";
import { isSecretName, secretFiles, secretName } from "../../config.ts";
import { PlugboardError } from "../../index.ts";
import type { CredentialUse, Scope, VaultPlace } from "../../config.ts";
import { keepSecret } from "../keep-secret.ts";
import { isShared } from "../plain-secrets.ts";
import { json, painter, safe, sentence, table } from "../terminal/print.ts";
import { shownLogin, unreadableFindings, unusedCredentials, unusedFindings } from "../views/kept.ts";
import { readSecretValue } from "../terminal/secret-value.ts";

import type { Terminal } from "../terminal/terminal.ts";
import { scopeOption, verb, withWorkspace } from "../verb.ts";
import type { CommonOptions } from "../verb.ts";

interface SetOptions extends CommonOptions {
  fromEnv?: string;
}

export function command(terminal: Terminal): Command {
  return new Command("secret")
    .description("Manage values for `${secret:NAME}`. They are stored encrypted and never shown.")
    .addCommand(setCommand(terminal))
    .addCommand(listCommand(terminal))
    .addCommand(moveCommand(terminal))
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
          await workspace.warm.forget({ secret: name });
          await workspace.failures.forgetSecret(name);
          if (options.json) return terminal.out(json({ set: name, vault: vault.path, key: place }));
          const words = `the encrypted vault ${vault.path}, whose key is in ${keyWords[place]}`;
          terminal.out(`Saved ${name} in ${safe(words)}.\nUse it as \${secret:${name}}.\n`);
        });
      })
  );
}

function listCommand(terminal: Terminal): Command {
  return verb(
    "list",
    "List the names of the secrets, when each was set or which file has it, and which servers use it. Never shows values.",
    ["secret list", "secret list --json"],
  ).action(async (options: CommonOptions) =>
    withWorkspace(terminal, options, async (workspace) => {
      const vault = await workspace.vault();
      const files = await secretFiles(await workspace.load());
      const kept = await workspace.stored.list();
      const { problems } = kept;
      const { logins } = unusedCredentials(kept);
      const secrets = kept.secrets.map(({ name, setAt, place, usedBy }) => ({
        name,
        setAt: new Date(setAt).toISOString(),
        key: place,
        usedBy,
      }));
      if (options.json) {
        return terminal.out(
          json({
            secrets,
            unusedLogins: logins.map(shownLogin),
            vault: vault.path,
            files,
            unreadable: problems.map((one) => one.toJSON()),
          }),
        );
      }
      const rows = secrets.map(({ name, setAt, key, usedBy }) => [
        name,
        setAt.slice(0, 16).replace("T", " "),
        keyWords[key],
        usedBy.length === 0 ? "nothing known" : [...new Set(usedBy.map(useWords))].join(", "),
      ]);
      const header = ["NAME", "SET (UTC)", "KEY IN", "USED BY"];
      if (rows.length > 0) terminal.out(table(header, rows, painter(terminal)));
      else if (problems.length === 0 && files.length === 0)
        terminal.out("No secrets are stored. To add one, run: plugboard secret set NAME\n");
      for (const { file, names, problem } of files) {
        if (problem !== undefined) terminal.err(`note: ${safe(`${file} ${problem}`)}\n`);
        else terminal.out(safe(`In ${file}: ${names.length === 0 ? "none" : names.join(", ")}`) + "\n");
      }
      for (const { message, about, advice = "" } of unusedFindings(kept))
        terminal.err(`note: ${safe(`${about} ${message}. ${advice}`)}\n`);
      const paint = painter(terminal, "err");
      for (const { message, advice = "" } of unreadableFindings(kept))
        terminal.err(`${paint("yellow", "warning:")} ${safe(`${message} ${advice}`)}\n`);
    }),
  );
}

function moveCommand(terminal: Terminal): Command {
  return verb(
    "move",
    "Move the secrets that a server has in plain text to the vault, and write references to them instead.",
    ["secret move issues", "secret move issues --scope project"],
  )
    .argument("<server>", "the server")
    .addOption(scopeOption("the scope of the entry, if it is in several"))
    .action(async (server: string, options: CommonOptions & { scope?: Scope }) =>
      withWorkspace(terminal, options, async (workspace) => {
        const { origin, moved } = await workspace.stored.moveSecrets(
          workspace.require(await workspace.load(), server),
          options.scope,
        );
        if (moved.length === 0)
          throw new PlugboardError("value-missing", `"${server}" has no secrets in plain text.`, {
            server,
            hint: "Nothing was changed.",
          });
        if (options.json) return terminal.out(json({ server, ...origin, moved }));
        for (const { field, secret } of moved)
          terminal.out(
            sentence(`Moved ${safe(field)} of ${safe(server)} to the secret ${safe(secret)}.`, terminal),
          );
        if (isShared(origin))
          terminal.err(
            "note: others may have the old value, for example in the history of the repository. Replace it where it was issued.\n",
          );
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
        await workspace.warm.forget({ secret: name });
        terminal.out(options.json ? json({ removed: name }) : `Removed ${name}.\n`);
      });
    });
}

function useWords({ server, file }: CredentialUse): string {
  return server ?? file ?? "the settings";
}

/** These messages never repeat the input, because it may be the value in the wrong place. */
function assertName(name: string): void {
  if (isSecretName(name)) return;
  throw new PlugboardError(
    "usage-invalid",
    "A secret's name consists of letters, digits, `_`, `-` and `.`, at most 128 of them.",
    {
      hint: "Give the name alone. The value is asked for, so that it does not end up in the history of your shell.",
    },
  );
}

const keyWords: Record<VaultPlace, string> = {
  keychain: "the keychain",
  passphrase: "PLUGBOARD_VAULT_PASSPHRASE",
  file: "vault.key next to it",
  memory: "memory",
};
