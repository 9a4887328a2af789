import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { installedVersion } from "./clients/client.ts";
import { clients } from "./clients/index.ts";
import { repository } from "./scene.ts";
import { direct, gateway, searching } from "./server.ts";
import { clientRow, markdown, summaryLine } from "./table.ts";
import type { ClientRow } from "./table.ts";
import { visit } from "./visit.ts";
import type { VisitResult } from "./visit.ts";

const usage = `node compat/run.ts [--direct | --search] [--verbose] [client…]
  Runs clients from npm against the gateway and writes their rows of docs/clients.md.
  --direct   against the server behind the gateway instead; writes nothing
  --search   with a search for tools in place of the tools; writes nothing
  --verbose  prints every command that was run and its output, not only after a failure
Clients: ${clients.map(({ id }) => id).join(", ")}`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    direct: { type: "boolean" },
    search: { type: "boolean" },
    verbose: { type: "boolean" },
    help: { type: "boolean" },
  },
});
const unknown = positionals.filter((id) => !clients.some((client) => client.id === id));
if (values.help || unknown.length > 0) {
  console.error(unknown.length > 0 ? `Unknown client: ${unknown.join(", ")}\n${usage}` : usage);
  process.exit(unknown.length > 0 ? 2 : 0);
}

const server = values.direct ? direct : values.search ? searching : gateway;
const rows: ClientRow[] = [];
let failed = 0;
for (const client of clients) {
  if (positionals.length > 0 && !positionals.includes(client.id)) continue;
  const version = installedVersion(client.package);
  if (!version) {
    failed += 1;
    console.log(`${client.title}: not installed; run \`npm install --ignore-scripts\` in compat/`);
    continue;
  }
  const results: VisitResult[] = [];
  for (const transport of ["stdio", "http"] as const) {
    const result = await visit(client, transport, server);
    results.push(result);
    console.log(summaryLine(client, version, result));
    if (!result.works || result.listed === false) failed += 1;
    if (values.verbose || !result.works) console.log(result.transcript.join("\n"));
  }
  rows.push(clientRow(client, version, results));
}
if (server === gateway && rows.length > 0) await writeRows(rows);
process.exitCode = failed > 0 ? 1 : 0;

/** Keeps the rows of clients that did not run this time. */
async function writeRows(fresh: readonly ClientRow[]) {
  const file = join(import.meta.dirname, "results.json");
  const kept = JSON.parse(await readFile(file, "utf8").catch(() => "[]")) as ClientRow[];
  const all = clients.flatMap(({ id }) => [...fresh, ...kept].find((row) => row.id === id) ?? []);
  await writeFile(file, `${JSON.stringify(all, null, 2)}\n`);
  const page = join(repository, "docs/clients.md");
  const [start, end] = ["<!-- gateway-clients -->", "<!-- /gateway-clients -->"];
  const [before = "", rest = ""] = (await readFile(page, "utf8")).split(start);
  await writeFile(page, `${before}${start}\n${markdown(all)}\n${end}${rest.split(end)[1] ?? ""}`);
}
