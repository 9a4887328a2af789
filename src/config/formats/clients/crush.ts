import { clientFormat, settingsFile } from "../client-format.ts";
import { usualFields } from "../command-fields.ts";
import { spellOutVariables } from "../environment.ts";
import { disabled, duration, standsFor, text } from "../fields.ts";
import { callbackPort } from "../oauth-fields.ts";
import { main, movableFile, projectFile } from "../paths.ts";
import { allowed, denied } from "../tool-rules.ts";
import { crushVariables } from "../variables.ts";

/** Its newer `crushrc` is a shell script, which Plugboard neither runs nor writes. */
export const crush = clientFormat({
  id: "crush",
  title: "Crush",
  syntax: "jsonc",
  files: (machine) => [
    machine.env["CRUSH_GLOBAL_CONFIG"]
      ? movableFile(machine, "CRUSH_GLOBAL_CONFIG", "", "crush.json")
      : movableFile(machine, "XDG_CONFIG_HOME", ".config", "crush/crush.json"),
    main(projectFile(machine, "crush.json")),
    projectFile(machine, ".crush.json"),
  ],
  ...settingsFile("mcp"),
  variables: crushVariables,
  remote: "http",
  fields: {
    ...usualFields,
    disabled,
    enabled_tools: allowed({ empty: "every tool" }),
    disabled_tools: denied,
    timeout: duration("startupTimeoutMs", "seconds"),
    oauth: standsFor("auth", "oauth"),
    oauth_client_id: text("oauth.clientId"),
    oauth_client_secret: text("oauth.clientSecret"),
    oauth_callback_port: callbackPort,
  },
  beforeWrite: (draft) => spellOutVariables(draft),
});
