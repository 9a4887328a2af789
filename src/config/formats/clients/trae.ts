import { clientFormat, ownFile } from "../client-format.ts";
import { addressFields, commandFields } from "../command-fields.ts";
import { spellOutVariables } from "../environment.ts";
import { disabled, readOnly } from "../fields.ts";
import { applicationFile, main, projectFile } from "../paths.ts";
import { transport, usualWords } from "../transport.ts";
import { noVariables } from "../variables.ts";

export const trae = clientFormat({
  id: "trae",
  title: "Trae",
  syntax: "jsonc",
  files: (machine) => [
    main(applicationFile(machine, "Trae", "User", "mcp.json")),
    applicationFile(machine, "Trae CN", "User", "mcp.json"),
    projectFile(machine, ".trae", "mcp.json"),
  ],
  ...ownFile("mcpServers"),
  variables: noVariables,
  remote: "http",
  fields: {
    type: readOnly(transport(usualWords)),
    ...commandFields,
    ...addressFields,
    disabled: readOnly(disabled),
  },
  beforeWrite: (draft) => spellOutVariables(draft),
});
