import { isRecord } from "../../../lib/record.ts";
import { clientFormat, entriesOf, type Found, listedEntries } from "../client-format.ts";
import { commandFields } from "../command-fields.ts";
import { spellOutVariables } from "../environment.ts";
import { nested, readOnly, record, text, label } from "../fields.ts";
import { projectFile, userFile } from "../paths.ts";
import { transport, usualWords } from "../transport.ts";
import { continueVariables } from "../variables.ts";

export const continueDev = clientFormat({
  id: "continue",
  title: "Continue",
  syntax: "yaml",
  files: (machine) => [
    userFile(machine, ".continue", "config.yaml"),
    { ...projectFile(machine, ".continue", "mcpServers"), extensions: ["yaml", "yml", "json"] },
  ],
  find: findServers,
  container: { path: () => ["mcpServers"], isList: true },
  variables: continueVariables,
  remote: "http",
  fields: {
    name: label,
    type: transport({ ...usualWords, http: "streamable-http" }),
    ...commandFields,
    cwd: text("cwd"),
    url: text("url"),
    requestOptions: nested({ headers: record("headers") }),
    headers: readOnly(record("headers")),
  },
  beforeWrite: (draft) => spellOutVariables(draft),
});

/** Continue's own files have a list; JSON files copied from other clients have an object. */
function findServers(document: Record<string, unknown>): Found {
  const servers = document["mcpServers"];
  return isRecord(servers) ? entriesOf(servers, "mcpServers") : listedEntries(servers, "mcpServers", "name");
}
