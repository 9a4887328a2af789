import { clientFormat, settingsFile } from "../client-format.ts";
import { usualFields } from "../command-fields.ts";
import { spellOutVariables } from "../environment.ts";
import { disabled, duration, readOnly, text } from "../fields.ts";
import { projectFile, userFile } from "../paths.ts";
import { noVariables } from "../variables.ts";

export const qoder = clientFormat({
  id: "qoder",
  title: "Qoder CLI",
  syntax: "jsonc",
  files: (machine) => [
    userFile(machine, ".qoder", "settings.json"),
    projectFile(machine, ".qoder", "settings.local.json"),
  ],
  ...settingsFile("mcpServers"),
  variables: noVariables,
  remote: "http",
  fields: {
    ...usualFields,
    cwd: text("cwd"),
    timeout: duration("callTimeoutMs", "milliseconds"),
    disabled: readOnly(disabled),
  },
  beforeWrite: (draft) => spellOutVariables(draft),
});
