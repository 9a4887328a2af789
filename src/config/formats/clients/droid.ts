import { clientFormat, ownFile } from "../client-format.ts";
import { usualFields } from "../command-fields.ts";
import { spellOutVariables } from "../environment.ts";
import { disabled, duration } from "../fields.ts";
import { projectFile, userFile } from "../paths.ts";
import { allowed, denied } from "../tool-rules.ts";
import { shellVariables } from "../variables.ts";

export const droid = clientFormat({
  id: "droid",
  title: "Factory Droid",
  syntax: "jsonc",
  files: (machine) => [
    userFile(machine, ".factory", "mcp.json"),
    projectFile(machine, ".factory", "mcp.json"),
  ],
  ...ownFile("mcpServers"),
  variables: shellVariables,
  remote: "http",
  fields: {
    ...usualFields,
    disabled,
    timeoutMs: duration("callTimeoutMs", "milliseconds"),
    enabledTools: allowed({ empty: "no tool" }),
    disabledTools: denied,
  },
  beforeWrite: (draft) => spellOutVariables(draft),
});
