import { clientFormat, ownFile } from "../client-format.ts";
import { addressFields, commandFields } from "../command-fields.ts";
import { spellOutVariables } from "../environment.ts";
import { disabled, nested, readOnly, text, texts, unsupported } from "../fields.ts";
import { projectFile, userFile } from "../paths.ts";
import { transport, usualWords } from "../transport.ts";
import { editorVariables } from "../variables.ts";

export const cursor = clientFormat({
  id: "cursor",
  title: "Cursor",
  syntax: "jsonc",
  files: (machine) => [userFile(machine, ".cursor", "mcp.json"), projectFile(machine, ".cursor", "mcp.json")],
  ...ownFile("mcpServers"),
  variables: editorVariables(),
  remote: "http",
  fields: {
    type: readOnly(transport(usualWords)),
    ...commandFields,
    cwd: readOnly(text("cwd")),
    envFile: unsupported("Plugboard does not read variables from files; list them in `env`"),
    ...addressFields,
    auth: nested({
      CLIENT_ID: text("oauth.clientId"),
      CLIENT_SECRET: text("oauth.clientSecret"),
      scopes: texts("oauth.scopes"),
    }),
    disabled: readOnly(disabled),
  },
  beforeWrite: spellOutVariables,
});
