import { clientFormat, ownFile } from "../client-format.ts";
import { addressFields, commandFields } from "../command-fields.ts";
import { spellOutVariables } from "../environment.ts";
import { choice, duration, enabled, text } from "../fields.ts";
import { movableFile, projectFile } from "../paths.ts";
import { allowed, denied } from "../tool-rules.ts";
import { transport, usualWords } from "../transport.ts";
import { noVariables } from "../variables.ts";

export const kimi = clientFormat({
  id: "kimi",
  title: "Kimi Code",
  syntax: "jsonc",
  files: (machine) => [
    movableFile(machine, "KIMI_CODE_HOME", ".kimi-code", "mcp.json"),
    projectFile(machine, ".kimi-code", "mcp.json"),
  ],
  ...ownFile("mcpServers"),
  variables: noVariables,
  remote: "http",
  fields: {
    transport: transport(usualWords),
    ...commandFields,
    cwd: text("cwd"),
    ...addressFields,
    bearerTokenEnvVar: text("bearerTokenEnv"),
    auth: choice("auth", { oauth: "oauth" }),
    enabled,
    startupTimeoutMs: duration("startupTimeoutMs", "milliseconds"),
    toolTimeoutMs: duration("callTimeoutMs", "milliseconds"),
    enabledTools: allowed({ empty: "no tool" }),
    disabledTools: denied,
  },
  beforeWrite: (draft) => spellOutVariables(draft, ["bearerTokenEnv"]),
});
