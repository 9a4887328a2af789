import { clientFormat, ownFile } from "../client-format.ts";
import { addressFields, commandFields } from "../command-fields.ts";
import { spellOutVariables } from "../environment.ts";
import { disabled, duration, readOnly, text } from "../fields.ts";
import { main, movableFile, projectFile } from "../paths.ts";
import { allowed } from "../tool-rules.ts";
import { transport } from "../transport.ts";
import { shellVariables } from "../variables.ts";

export const copilot = clientFormat({
  id: "copilot",
  title: "Copilot CLI",
  syntax: "jsonc",
  files: (machine) => [
    movableFile(machine, "COPILOT_HOME", ".copilot", "mcp-config.json"),
    main(projectFile(machine, ".github", "mcp.json")),
    projectFile(machine, ".mcp.json"),
  ],
  ...ownFile("mcpServers"),
  variables: shellVariables,
  remote: "http",
  fields: {
    type: transport({ stdio: "local", http: "http", sse: "sse" }),
    ...commandFields,
    cwd: readOnly(text("cwd")),
    ...addressFields,
    tools: allowed({ empty: "no tool" }),
    timeout: duration("callTimeoutMs", "milliseconds"),
    disabled: readOnly(disabled),
  },
  beforeWrite: spellOutVariables,
});
