import { parseArgs } from "node:util";
import { installedVersion } from "./clients/client.ts";
import { exportedClients } from "./exported/clients.ts";
import { tryClient } from "./exported/try-client.ts";

const usage = `node compat/exported.ts [--verbose] [client…]
  Merges servers into a client's existing file with \`plugboard export <client> --write\`, lets the client from npm load it,
  and checks that the client reaches every server with the right values and that nothing else in the file changed.
  --verbose  prints the files and every command with its output, not only after a failure
Clients: ${exportedClients.map(({ client }) => client.id).join(", ")}`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { verbose: { type: "boolean" }, help: { type: "boolean" } },
});
const unknown = positionals.filter((id) => !exportedClients.some(({ client }) => client.id === id));
if (values.help || unknown.length > 0) {
  console.error(unknown.length > 0 ? `Unknown client: ${unknown.join(", ")}\n${usage}` : usage);
  process.exit(unknown.length > 0 ? 2 : 0);
}

for (const one of exportedClients) {
  const { title, id, package: name } = one.client;
  if (positionals.length > 0 && !positionals.includes(id)) continue;
  const version = installedVersion(name);
  const { problems, transcript } = version
    ? await tryClient(one)
    : { problems: ["not installed; run `npm install --ignore-scripts` in compat/"], transcript: [] };
  if (problems.length > 0) process.exitCode = 1;
  console.log(
    `${problems.length === 0 ? "ok  " : "FAIL"}  ${title} ${version ?? ""}  ${problems.join("; ")}`,
  );
  if (values.verbose || problems.length > 0) console.log(transcript.join("\n"));
}
