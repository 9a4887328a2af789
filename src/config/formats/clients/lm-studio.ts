import { clientFormat, ownFile } from "../client-format.ts";
import { addressFields, commandFields } from "../command-fields.ts";
import { spellOutVariables } from "../environment.ts";
import { disabled, readOnly } from "../fields.ts";
import { userFile } from "../paths.ts";
import { transport, usualWords } from "../transport.ts";
import { noVariables } from "../variables.ts";

export const lmStudio = clientFormat({
  id: "lm-studio",
  title: "LM Studio",
  syntax: "jsonc",
  files: (machine) => [userFile(machine, ".lmstudio", "mcp.json")],
  ...ownFile("mcpServers"),
  variables: noVariables,
  remote: "http",
  fields: {
    type: readOnly(transport(usualWords)),
    ...commandFields,
    ...addressFields,
    disabled: readOnly(disabled),
  },
  beforeWrite: spellOutVariables,
});
