import { clientFormat, ownFile } from "../client-format.ts";
import { addressFields, commandFields } from "../command-fields.ts";
import { spellOutVariables } from "../environment.ts";
import { disabled, duration, readOnly } from "../fields.ts";
import { projectFile, userFile } from "../paths.ts";
import { approvalList, denied } from "../tool-rules.ts";
import { transport, usualWords } from "../transport.ts";
import { shellVariables } from "../variables.ts";

export const kiro = clientFormat({
  id: "kiro",
  title: "Kiro",
  syntax: "jsonc",
  files: (machine) => [
    userFile(machine, ".kiro", "settings", "mcp.json"),
    projectFile(machine, ".kiro", "settings", "mcp.json"),
  ],
  ...ownFile("mcpServers"),
  variables: shellVariables,
  remote: "http",
  fields: {
    type: readOnly(transport(usualWords)),
    ...commandFields,
    ...addressFields,
    disabled,
    autoApprove: approvalList("approve"),
    disabledTools: denied,
    timeout: readOnly(duration("callTimeoutMs", "milliseconds")),
  },
  beforeWrite: (draft) => spellOutVariables(draft),
});
