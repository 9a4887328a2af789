import { clientFormat, settingsFile } from "../client-format.ts";
import { usualFields } from "../command-fields.ts";
import { lost } from "../draft.ts";
import { disabled } from "../fields.ts";
import { dotConfigFile, projectFile } from "../paths.ts";
import { allowed } from "../tool-rules.ts";
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
  variables: shellVariables,
  remote: "http",
  fields: {
    ...usualFields,
    disabled,
    includeTools: allowed({ empty: "no tool" }),
  },
});
