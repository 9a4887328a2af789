import { clientFormat, ownFile } from "../client-format.ts";
import { addressFields, commandFields } from "../command-fields.ts";
import { spellOutVariables } from "../environment.ts";
import { disabled, nested, readOnly, text, texts, unsupported } from "../fields.ts";
import { projectFile, userFile } from "../paths.ts";
import { transport, usualWords } from "../transport.ts";
import { noVariables } from "../variables.ts";

export const mastra = clientFormat({
  id: "mastra",
  title: "Mastra Code",
  syntax: "jsonc",
  files: (machine) => [
    userFile(machine, ".mastracode", "mcp.json"),
    projectFile(machine, ".mastracode", "mcp.json"),
  ],
  ...ownFile("mcpServers"),
  variables: noVariables,
  remote: "http",
  fields: {
    type: readOnly(transport(usualWords)),
    ...commandFields,
    ...addressFields,
    // Not written: Mastra Code skips a server whose `oauth` has no redirect address.
    oauth: readOnly(
      nested({
        clientId: text("oauth.clientId"),
        clientSecret: text("oauth.clientSecret"),
        scopes: texts("oauth.scopes"),
        redirectUrl: unsupported(
          "Plugboard chooses its own address; set `oauth.callbackPort` for a fixed port",
        ),
      }),
    ),
    disabled: readOnly(disabled),
  },
  beforeWrite: (draft) => spellOutVariables(draft),
});
