import { clientFormat, settingsFile } from "../client-format.ts";
import { addressFields, commandFields } from "../command-fields.ts";
import { spellOutVariables } from "../environment.ts";
import { duration, enabled, readOnly } from "../fields.ts";
import { movableFile, projectFile } from "../paths.ts";
import { transport, usualWords } from "../transport.ts";
import { shellVariables } from "../variables.ts";

export const grok = clientFormat({
  id: "grok",
  title: "Grok Build",
  syntax: "toml",
  files: (machine) => [
    movableFile(machine, "GROK_HOME", ".grok", "config.toml"),
    projectFile(machine, ".grok", "config.toml"),
  ],
  ...settingsFile("mcp_servers"),
  variables: shellVariables,
  remote: "http",
  fields: {
    type: readOnly(transport(usualWords)),
    ...commandFields,
    ...addressFields,
    enabled: readOnly(enabled),
    startup_timeout_sec: duration("startupTimeoutMs", "seconds"),
    tool_timeout_sec: duration("callTimeoutMs", "seconds"),
  },
  beforeWrite: (draft) => spellOutVariables(draft),
});
