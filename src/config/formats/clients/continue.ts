import { isRecord } from "../../../lib/record.ts";
import { clientFormat, entriesOf, type Found, listedEntries } from "../client-format.ts";
import { usualFields } from "../command-fields.ts";
import { nested, readOnly, record, text, label } from "../fields.ts";
import { projectFile, userFile } from "../paths.ts";
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
  variables: continueVariables,
  remote: "http",
  fields: {
    name: label,
    ...usualFields,
    cwd: text("cwd"),
    requestOptions: nested({ headers: readOnly(record("headers")) }),
  },
});

/** Continue's own files have a list; JSON files copied from other clients have an object. */
function findServers(document: Record<string, unknown>): Found {
  const servers = document["mcpServers"];
  return isRecord(servers) ? entriesOf(servers, "mcpServers") : listedEntries(servers, "mcpServers", "name");
}
