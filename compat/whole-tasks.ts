import { parseArgs } from "node:util";
import { estimateTokens } from "../src/calls/output/token-estimate.ts";
import { installedVersion } from "./clients/client.ts";
import type { CompatClient } from "./clients/client.ts";
import { clients } from "./clients/index.ts";
import { serviceNames, tasks } from "./many-tools/catalog.ts";
import type { Task } from "./many-tools/catalog.ts";
import { proofOf } from "./many-tools/server.ts";
import { WishScript } from "./wish-script.ts";
import type { Wish } from "./wish-script.ts";
import { startModel } from "../test/fixtures/model/server.ts";
import { Scene } from "./scene.ts";
import { gateway } from "./server.ts";
import type { ServerUnderTest } from "./server.ts";
import { meet } from "./visit.ts";
import type { TransportName } from "./visit.ts";

const usage = `node compat/whole-tasks.ts [--tools 10,50,100,500,10000] [--transport stdio|http] [--verbose] [client…]
  A whole task of three steps through real clients before a gateway with so many tools: once with the tools themselves
  (toolSearch: false), once with search_tools, describe_tools and call_tool (toolSearch: true). Prints the turns and the
  tokens of everything that was sent to the model until the task was done.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    tools: { type: "string", default: "10,50,100,500,10000" },
    transport: { type: "string", default: "stdio" },
    verbose: { type: "boolean" },
    help: { type: "boolean" },
  },
});
if (values.help) {
  console.log(usage);
  process.exit(0);
}
const wanted = positionals.length > 0 ? positionals : ["claude-code", "codex"];
const node = process.execPath;
const server = new URL("many-tools/server.ts", import.meta.url).pathname;

type Mode = "direct" | "search";

function served(total: number, mode: Mode): ServerUnderTest {
  return {
    ...gateway,
    prepare: (scene) =>
      scene.write(".config/plugboard/config.json", {
        toolSearch: mode === "search",
        servers: Object.fromEntries(
          serviceNames.map((name) => [name, { command: node, args: [server, name, String(total)] }]),
        ),
      }),
  };
}

/** A direct agent calls each tool. A searching one finds each, describes the first, and calls what it found. */
function wishesOf({ steps }: Task, mode: Mode): Wish[] {
  if (mode === "direct")
    return steps.map(({ service, tool, args }) => ({ tool: `${service}__${tool.name}`, args }));
  const wishes: Wish[] = [];
  for (const { service, tool, query, args } of steps) {
    const found = wishes.push({ tool: "search_tools", args: { query } }) - 1;
    const name = `${service}__${tool.name}`;
    const chosen = (text = "") =>
      /^([\w-]+)\(/m.exec(text.slice(Math.max(0, text.indexOf(`${name}(`))))?.[1] ?? "";
    if (found === 0)
      wishes.push({ tool: "describe_tools", args: (results) => ({ names: [chosen(results[found]?.text)] }) });
    wishes.push({
      tool: "call_tool",
      args: (results) => ({ name: chosen(results[found]?.text), arguments: args }),
    });
  }
  return wishes;
}

interface Figures {
  works: boolean;
  turns: number;
  tokens: number;
  first: number;
  failure: string;
}

async function run(
  client: CompatClient,
  total: number,
  mode: Mode,
  transport: TransportName,
): Promise<Figures> {
  const [task] = tasks as [Task];
  const script = new WishScript(wishesOf(task, mode), "");
  await using model = await startModel(script);
  const under = served(total, mode);
  using scene = new Scene(under.plugboard);
  if (client.program) scene.install(client.program.name, client.program.command);
  under.prepare(scene);
  await using stack = new AsyncDisposableStack();
  const { target } = await meet(transport, scene, under, stack);
  const [first] = task.steps;
  const tool = { name: first?.tool.name ?? "", args: {} };
  const { answer } = await client.use({ scene, target, modelUrl: model.url, tool, prompt: task.prompt });
  const missing = task.steps.filter(({ tool: { name }, args }) => !answer.includes(proofOf(name, args)));
  if (values.verbose) console.log(scene.transcript.join("\n"), script.record.results, script.record.names);
  // Requests with no tools at all are about something else, such as a title for the conversation.
  const sent = script.record.requests
    .filter((text) => /"tools":\[\{/.test(text))
    .map((text) => estimateTokens(text));
  return {
    works: missing.length === 0,
    turns: sent.length,
    tokens: sent.reduce((sum, tokens) => sum + tokens, 0),
    first: sent[0] ?? 0,
    failure: missing.map(({ tool: { name } }) => name).join(", "),
  };
}

console.log(
  "| client | tools | direct: turns, tokens (first request) | search: turns, tokens (first request) |",
);
console.log("|---|---|---|---|");
let failed = 0;
for (const client of clients.filter(({ id }) => wanted.includes(id))) {
  const version = installedVersion(client.package);
  if (version === undefined) {
    failed += 1;
    console.error(`${client.title}: not installed; run \`npm install --ignore-scripts\` in compat/`);
    continue;
  }
  for (const total of values.tools.split(",").map(Number)) {
    const cells: string[] = [];
    for (const mode of ["direct", "search"] as const) {
      const { works, turns, tokens, first, failure } = await run(
        client,
        total,
        mode,
        values.transport as TransportName,
      );
      if (!works) failed += 1;
      cells.push(
        works
          ? `${turns}, ${tokens.toLocaleString("en-US")} (${first.toLocaleString("en-US")})`
          : `not done: ${failure}`,
      );
    }
    console.log(`| ${client.title} ${version} | ${total.toLocaleString("en-US")} | ${cells.join(" | ")} |`);
  }
}
process.exitCode = failed > 0 ? 1 : 0;
