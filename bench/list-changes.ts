/**
 * Measures the cost of a noisy neighbour: calls to one server while another one with 50,000 tools sends `list_changed` a
 * thousand times per second, compared with the same calls while it is quiet, with lists read on demand and with
 * `keepFresh`. Also measures calls to the noisy server itself, of which at most a few may wait for its list.
 * Run: node bench/list-changes.ts [tools]
 */
import { createHub } from "../src/index.ts";
import type { HubOptions } from "../src/index.ts";
import { echoServer, toolsNamed } from "./echo-server.ts";

const count = Number(process.argv[2] ?? 50_000);
const measureMs = 5_000;
const changesASecond = 1_000;

for (const keepFresh of [false, true]) await measure({ keepFresh });

async function measure(options: HubOptions): Promise<void> {
  let notify: ((method: string) => void) | undefined;
  const noisy = echoServer({ tools: toolsNamed(count), onConnect: (tell) => (notify = tell) });
  await using hub = await createHub(
    { servers: { noisy: { server: noisy }, quiet: { server: echoServer({ tools: toolsNamed(10) }) } } },
    options,
  );
  await hub.tools();
  const neighbour = () => hub.callTool("mcp__quiet__tool_7", { text: "hello" });
  console.log(`\n${count} tools, keepFresh: ${options.keepFresh}`);
  await sample(neighbour, 4_000);
  const quiet = print("quiet", await sample(neighbour, measureMs));
  const stop = repeat(() => notify?.("notifications/tools/list_changed"));
  const loud = print("noisy neighbour", await sample(neighbour, measureMs));
  console.log(`  p50 relative to quiet: ${(loud / quiet).toFixed(2)}`);
  print(
    "the noisy server itself",
    await sample(() => hub.callTool("mcp__noisy__tool_7", { text: "hello" }), measureMs),
  );
  stop();
}

/** A thousand times per second, several at once if the timer is late. */
function repeat(work: () => void): () => void {
  const begun = performance.now();
  let done = 0;
  const timer = setInterval(() => {
    for (const due = ((performance.now() - begun) * changesASecond) / 1_000; done < due; done++) work();
  }, 1);
  return () => clearInterval(timer);
}

/** Pauses between calls to let everything else run. */
async function sample(call: () => Promise<unknown>, ms: number): Promise<number[]> {
  const samples: number[] = [];
  const end = performance.now() + ms;
  while (performance.now() < end) {
    const begun = performance.now();
    await call();
    samples.push(performance.now() - begun);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return samples.sort((a, b) => a - b);
}

function print(what: string, samples: number[]): number {
  const at = (share: number) => samples[Math.floor(samples.length * share)] ?? NaN;
  const [p50, p99, worst] = [at(0.5), at(0.99), samples.at(-1) ?? NaN];
  const figures = [p50, p99, worst].map((ms) => ms.toFixed(2));
  console.log(
    `  ${what}: p50 ${figures[0]} ms, p99 ${figures[1]} ms, worst ${figures[2]} ms, ${samples.length} calls`,
  );
  return p50;
}
