/**
 * Measures what stays in our heap: of each 1 MB result once its handle is stored, of a result that was cut for a model
 * (relative to its own text), and of each isolated caller of the gateway once its connection is gone. Fails above the
 * bars. Run: node bench/held.ts [results] [callers]
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createGateway } from "../src/gateway/index.ts";
import { createHub } from "../src/index.ts";
import { startFakeHttp } from "../test/fixtures/fake/index.ts";

const bars = { keptKb: 50, shown: 2, callerKb: 5 };
const resultBytes = 1_000_000;
const warmUp = { results: 10, callers: 100 };
setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

if (process.argv[2] === "serve") await serve();
else await measure(Number(process.argv[2] ?? 30), Number(process.argv[3] ?? 300));

async function measure(results: number, callers: number): Promise<void> {
  await measureResults(results);
  await measureCallers(callers);
}

/** With the default store, which is in memory; not more than it keeps for one caller. */
async function measureResults(count: number): Promise<void> {
  const blob = { command: process.execPath, args: [join(import.meta.dirname, "results.ts"), "serve"] };
  await using hub = await createHub({ servers: { it: blob } });
  const call = () => hub.callTool("mcp__it__blob", { bytes: resultBytes, shape: "text" });
  for (let done = 0; done < warmUp.results; done++) await call();
  // The last result is referred to here and there until the next one comes.
  const small = () => hub.callTool("mcp__it__blob", { bytes: 10, shape: "text" });
  await small();
  const before = await heapKb();
  const handles: unknown[] = [];
  for (let done = 0; done < count; done++) handles.push(((await call())._meta as Meta)["plugboard/output"]);
  await small();
  const after = await heapKb();
  judge(`heap of a kept 1 MB result, ${handles.length} of them`, (after - before) / count, bars.keptKb, "KB");
  const shown: unknown[] = [];
  for (let done = 0; done < count; done++) shown.push(await call());
  const textKb = JSON.stringify(shown).length / 1024;
  judge(
    "heap of a result that was cut, relative to its text",
    (await heapKb()) / textKb - after / textKb,
    bars.shown,
    "×",
  );
}

type Meta = Record<string, unknown>;

async function measureCallers(count: number): Promise<void> {
  const server = fork(import.meta.filename, ["serve"]);
  const [url] = (await once(server, "message")) as [string];
  const hub = await createHub({ servers: { it: { url, isolation: "caller" } } }, { idleMs: 100 });
  const gateway = createGateway(hub, {
    authenticate: ({ headers }) => headers.get("x-caller") ?? undefined,
  });
  const there = new Set<string>();
  hub.on("connection-changed", ({ to, caller }) => {
    if (to === "closed" && caller !== undefined) there.delete(caller);
  });
  let opened = 0;
  const come = async (callers: number) => {
    for (let done = 0; done < callers; done++) {
      const caller = `caller-${++opened}`;
      there.add(caller);
      await useOnce(gateway.fetch, caller);
    }
    while (there.size > 0) await sleep(20);
  };
  await come(warmUp.callers);
  const before = await heapKb();
  await come(count);
  judge(
    `heap of an isolated caller that is gone, ${count} of them`,
    (await heapKb()) - before,
    bars.callerKb * count,
    "KB",
    count,
  );
  await gateway.close();
  await hub.close();
  server.kill();
}

/** What a small client does: it lists the tools, and calls one. */
async function useOnce(send: (request: Request) => Promise<Response>, caller: string): Promise<void> {
  const revision = "2026-07-28";
  const post = async (method: string, params: Record<string, unknown>) => {
    const meta = {
      "io.modelcontextprotocol/protocolVersion": revision,
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const headers = {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-protocol-version": revision,
      "mcp-method": method,
      ...(typeof params["name"] === "string" && { "mcp-name": params["name"] }),
      "x-caller": caller,
    };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta } });
    const response = await send(new Request("http://localhost/mcp", { method: "POST", headers, body }));
    const text = await response.text();
    if (!response.ok || text.includes('"error"')) throw new Error(`${method} failed: ${text.slice(0, 500)}`);
  };
  await post("tools/list", {});
  await post("tools/call", { name: "it__echo", arguments: {} });
}

/** A server with a hundred tools, in a process of its own. */
async function serve(): Promise<void> {
  const moreTools = Array.from({ length: 100 }, (_, index) => ({
    name: `tool-${index}`,
    description: `Does what number ${index} does. `.repeat(10),
    inputSchema: { type: "object", properties: { value: { type: "string", description: `Of ${index}` } } },
  }));
  const fake = await startFakeHttp({ versions: "legacy", moreTools });
  process.send?.(fake.url);
}

async function heapKb(): Promise<number> {
  for (let turn = 0; turn < 8; turn++) {
    collectGarbage();
    await sleep(100);
  }
  return process.memoryUsage().heapUsed / 1024;
}

function judge(what: string, value: number, bar: number, unit: string, per = 1): void {
  const isMet = value <= bar;
  if (!isMet) process.exitCode = 1;
  console.log(
    `${what}: ${(value / per).toFixed(1)} ${unit}, bar ${bar / per} ${unit}: ${isMet ? "met" : "MISSED"}`,
  );
}
