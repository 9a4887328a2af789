import { clientFormat, ownFile } from "./client-format.ts";
import { addressFields, commandFields } from "./command-fields.ts";
import { disabled, duration } from "./fields.ts";
import { projectFile, userFile } from "./paths.ts";
import { answered, denied } from "./tool-rules.ts";
import { transport, usualWords } from "./transport.ts";
import { shellVariables } from "./variables.ts";

export const kiro = clientFormat({
  id: "kiro",
  title: "Kiro",
  syntax: "jsonc",
  files: (machine) => [
    userFile(machine, ".kiro", "settings", "mcp.json"),
    projectFile(machine, ".kiro", "settings", "mcp.json"),
  ],
  find: ownFile("mcpServers").find,
  variables: shellVariables,
  remote: "http",
  fields: {
    type: transport(usualWords),
    ...commandFields,
    ...addressFields,
    disabled,
    autoApprove: answered("approve"),
    disabledTools: denied,
    timeout: duration("callTimeoutMs", "milliseconds"),
  },
});
