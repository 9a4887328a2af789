import { clientFormat, ownFile } from "../client-format.ts";
import { usualFields } from "../command-fields.ts";
import { disabled, duration } from "../fields.ts";
import { projectFile, userFile } from "../paths.ts";
import { approvalList, denied } from "../tool-rules.ts";
import { shellVariables } from "../variables.ts";

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
    ...usualFields,
    disabled,
    autoApprove: approvalList("approve"),
    disabledTools: denied,
    timeout: duration("callTimeoutMs", "milliseconds"),
  },
});
