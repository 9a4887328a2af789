import { clientFormat, settingsFile } from "../client-format.ts";
import { addressFields, commandFields } from "../command-fields.ts";
import { lost } from "../draft.ts";
import { spellOutVariables } from "../environment.ts";
import { disabled, readOnly } from "../fields.ts";
import { dotConfigFile, projectFile } from "../paths.ts";
import { allowed } from "../tool-rules.ts";
import { transport, usualWords } from "../transport.ts";
import { shellVariables } from "../variables.ts";

const servers = settingsFile("amp.mcpServers");

export const amp = clientFormat({
  id: "amp",
  title: "Amp",
  syntax: "jsonc",
  files: (machine) => [
    dotConfigFile(machine, "amp", "settings.json"),
    projectFile(machine, ".amp", "settings.json"),
  ],
  find: (document, context) => ({
    ...servers.find(document, context),
    notes:
      document["amp.mcpPermissions"] === undefined
        ? []
        : [lost("amp.mcpPermissions", "in Plugboard, trust decides which servers may run")],
  }),
  container: servers.container,
  variables: shellVariables,
  remote: "http",
  fields: {
    type: readOnly(transport(usualWords)),
    ...commandFields,
    ...addressFields,
    disabled,
    includeTools: allowed({ empty: "no tool" }),
  },
  beforeWrite: (draft) => spellOutVariables(draft),
});
