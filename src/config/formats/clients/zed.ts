import { clientFormat, settingsFile } from "../client-format.ts";
import { addressFields, commandFields } from "../command-fields.ts";
import { spellOutVariables } from "../environment.ts";
import { either, enabled, nested, record, type Rule, text, texts } from "../fields.ts";
import { applicationFile, dotConfigFile, projectFile } from "../paths.ts";
import { noVariables } from "../variables.ts";

export const zed = clientFormat({
  id: "zed",
  title: "Zed",
  syntax: "jsonc",
  files: (machine) => [
    machine.platform === "win32"
      ? applicationFile(machine, "Zed", "settings.json")
      : dotConfigFile(machine, "zed", "settings.json"),
    projectFile(machine, ".zed", "settings.json"),
  ],
  ...settingsFile("context_servers"),
  variables: noVariables,
  remote: "http",
  fields: {
    source: source(),
    ...commandFields,
    // Older files have the program, its arguments and its variables in one object.
    command: either(
      (value) => typeof value === "string",
      text("command"),
      nested({ path: text("command"), args: texts("args"), env: record("env") }),
    ),
    ...addressFields,
    enabled,
  },
  beforeWrite: spellOutVariables,
});

function source(): Rule {
  return { read: (value) => (value === "custom" ? undefined : "it is started by a Zed extension") };
}
