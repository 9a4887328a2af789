import { clientFormat, ownFile } from "../client-format.ts";
import { commandLine, commandList } from "../command-fields.ts";
import { either, record, type Rule, type Rules, text, texts } from "../fields.ts";
import { projectFile, userFile } from "../paths.ts";
import { scopeText } from "../oauth-fields.ts";
import { allowed, denied } from "../tool-rules.ts";
import { transport, usualWords } from "../transport.ts";
import { mcporterVariables } from "../variables.ts";

export const mcporter = clientFormat({
  id: "mcporter",
  title: "mcporter",
  syntax: "jsonc",
  files: (machine) => [
    userFile(machine, ".mcporter", "mcporter.json"),
    userFile(machine, ".mcporter", "mcporter.jsonc"),
    projectFile(machine, "config", "mcporter.json"),
  ],
  find: ownFile("mcpServers").find,
  variables: mcporterVariables,
  remote: "http",
  fields: {
    type: transport(usualWords),
    transport: transport(usualWords),
    // Read before the command, which is split only if there are no `args`.
    args: texts("args"),
    env: record("env"),
    command: either(Array.isArray, commandList, commandText()),
    cwd: text("cwd"),
    ...bothSpellings({
      baseUrl: text("url"),
      url: text("url"),
      serverUrl: text("url"),
      headers: record("headers"),
      bearerTokenEnv: text("bearerTokenEnv"),
      auth: text("auth"),
      oauthClientId: text("oauth.clientId"),
      oauthClientSecret: text("oauth.clientSecret"),
      oauthScope: scopeText,
      allowedTools: allowed({ empty: "no tool" }),
      blockedTools: denied,
    }),
  },
});

/** Splits `npx -y server`, but not a path with spaces when the entry has `args`. */
function commandText(): Rule {
  const program = text("command");
  return {
    read: (value, field, draft) =>
      (draft.config.has("args") ? program : commandLine).read(value, field, draft),
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
