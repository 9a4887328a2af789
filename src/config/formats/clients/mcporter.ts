import { clientFormat, ownFile } from "../client-format.ts";
import { commandLine, commandList } from "../command-fields.ts";
import { spellOutVariables } from "../environment.ts";
import { choice, either, readOnly, record, type Rule, type Rules, text, texts } from "../fields.ts";
import { main, projectFile, userFile } from "../paths.ts";
import { scopeText } from "../oauth-fields.ts";
import { allowed, denied } from "../tool-rules.ts";
import { transport, usualWords } from "../transport.ts";
import { mcporterVariables } from "../variables.ts";

const oauthOnly = choice("auth", { oauth: "oauth" });

export const mcporter = clientFormat({
  id: "mcporter",
  title: "mcporter",
  syntax: "jsonc",
  files: (machine) => [
    main(userFile(machine, ".mcporter", "mcporter.json")),
    userFile(machine, ".mcporter", "mcporter.jsonc"),
    projectFile(machine, "config", "mcporter.json"),
  ],
  ...ownFile("mcpServers"),
  variables: mcporterVariables,
  remote: "http",
  fields: {
    type: readOnly(transport(usualWords)),
    transport: readOnly(transport(usualWords)),
    // Read before the command, which is split only if there are no `args`.
    args: texts("args"),
    env: record("env"),
    command: either(Array.isArray, readOnly(commandList), commandText()),
    cwd: text("cwd"),
    ...bothSpellings({
      baseUrl: text("url"),
      url: text("url"),
      serverUrl: text("url"),
      headers: record("headers"),
      bearerTokenEnv: text("bearerTokenEnv"),
      auth: { ...text("auth"), write: (draft, field) => oauthOnly.write?.(draft, field) },
      oauthClientId: text("oauth.clientId"),
      oauthClientSecret: text("oauth.clientSecret"),
      oauthScope: scopeText,
      allowedTools: allowed({ empty: "no tool" }),
      blockedTools: denied,
    }),
  },
  beforeWrite: (draft) => spellOutVariables(draft, ["bearerTokenEnv"]),
});

/** Splits `npx -y server`, but not a path with spaces when the entry has `args`. */
function commandText(): Rule {
  const program = text("command");
  return {
    read: (value, field, draft) =>
      (draft.config.has("args") ? program : commandLine).read(value, field, draft),
    write: (draft, field) => {
      const command = program.write?.(draft, field);
      // The arguments are written first, so only a command without any is at risk of being split.
      return typeof command === "string" && /[\s"'\\]/.test(command) ? [command] : command;
    },
  };
}

/** mcporter accepts both `baseUrl` and `base_url`. */
function bothSpellings(rules: Rules): Rules {
  const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(
    Object.entries(rules).flatMap(([name, rule]) => [
      [name, rule],
      [snake(name), rule],
    ]),
  );
}
