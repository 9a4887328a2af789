/**
 * Measures the gateway against other gateways before the same stdio echo server, with a raw node:http floor, a byte pipe
 * through the same server and the SDK's servers for reference: both eras, one by one and 32 in flight, results of 100
 * bytes and 1 MB, 1 and 10,000 tools. Ours checks token, Host, Origin and arguments, and has a listener for its events.
 * All contenders run at the same time and take short turns, so that load on the machine affects them equally; a ratio is
 * the median of the ratios of each round. The peers are installed from npm into a folder below the temporary one.
 * Requires Linux with two cores. Run: npm run build && node bench/gateway.ts [--rounds 5] [--ms 500] [--without-peers] [--source]
 */
import { parseArgs } from "node:util";
import { startFloor, startOurs, startSdkServer } from "./gateway/contenders.ts";
import type { Contender } from "./gateway/contenders.ts";
import { judge, Rounds } from "./gateway/figures.ts";
import type { Figures } from "./gateway/figures.ts";
import { measureMemory } from "./gateway/memory.ts";
import { installPeers, startPeers } from "./gateway/peers.ts";
import { cpuUs, residentMb } from "./gateway/process-costs.ts";
import { startLoad } from "./gateway/processes.ts";
import { measureStartUp } from "./gateway/start-up.ts";

interface Scenario {
  era: "legacy" | "modern";
  size: number | undefined;
  tools: 1 | 10_000;
  inFlight: 1 | 32;
}

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    ms: { type: "string", default: "500" },
    source: { type: "boolean", default: false },
    "without-peers": { type: "boolean", default: false },
  },
});
const build = values.source ? "src" : "dist";
const large = 1_000_000;
const small = undefined;
const rounds = new Rounds();

await using stack = new AsyncDisposableStack();
const load = await startLoad();
stack.defer(() => load.stop());
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => void stack.disposeAsync().finally(() => process.exit(1)));
const modules = values["without-peers"] ? undefined : await installPeers();
const few = await start([
  startOurs(build, 1),
  startFloor("http"),
  startFloor("pipe"),
  startSdkServer("v1"),
  startSdkServer("v2"),
  ...startPeers(modules, 1),
]);
/** The same gateway as among the few, so that both numbers of tools have their turns at the same time. */
const oneTool = few.filter(({ kind }) => kind === "ours").map((ours) => ({ ...ours, name: "with one tool" }));
const many = [...(await start([startOurs(build, 10_000), ...startPeers(modules, 10_000)])), ...oneTool];

const scenarios: Scenario[] = [1, 10_000].flatMap((tools) =>
  (tools === 1 ? [small, large] : [small]).flatMap((size) =>
    (["legacy", "modern"] as const).flatMap((era) =>
      ([1, 32] as const).map((inFlight) => ({ tools, size, era, inFlight }) as Scenario),
    ),
  ),
);
await warmUp();
for (let round = 0; round < Number(values.rounds); round++) {
  for (const scenario of scenarios) await playRound(scenario, round);
  process.stderr.write(".");
}
process.stderr.write("\n");
rounds.print();
judgeCalls();
await measureStartUp(build);
await measureMemory(load, build);

/** A gateway runs for long, so everybody has the same time to compile its code first; calls that fail meanwhile do not count. */
async function warmUp(): Promise<void> {
  const orders = [{ ms: 6 * Number(values.ms) }, { ms: Number(values.ms), size: large }];
  // Twice, because what is learnt from large results and from the other era changes the code for the first.
  for (let again = 0; again < 2; again++)
    for (const { targets } of [...few, ...many])
      for (const target of Object.values(targets))
        for (const order of orders) await load.run({ target, inFlight: 32, ...order });
}

/** Everybody's turn, in an order that changes. */
async function playRound(scenario: Scenario, round: number): Promise<void> {
  const contenders = scenario.tools === 1 ? few : many;
  for (let turn = 0; turn < contenders.length; turn++) {
    const contender = contenders[(turn + round) % contenders.length] as Contender;
    const figures = await take(scenario, contender);
    if (figures) rounds.add(label(scenario), contender.name, figures);
  }
}

async function take({ era, size, inFlight }: Scenario, contender: Contender): Promise<Figures | undefined> {
  const target = contender.targets[era];
  if (!target) return undefined;
  const before = cpuUs(contender.pid);
  const outcome = await load.run({
    target,
    inFlight,
    ms: Number(values.ms),
    ...(size !== undefined && { size }),
  });
  if (outcome.failures > 0)
    throw new Error(`${contender.name} failed ${outcome.failures} times: ${outcome.firstFailure}`);
  const cpu = (cpuUs(contender.pid) - before) / outcome.calls;
  return { ...outcome, cpuUs: cpu, residentMb: residentMb(contender.pid).now };
}

function judgeCalls(): void {
  const peers = new Set([...few, ...many].filter(({ kind }) => kind === "peer").map(({ name }) => name));
  const [ours, floor, pipe] = ["plugboard", "floor: node:http", "byte pipe"];
  for (const scenario of scenarios) {
    const at = label(scenario);
    const all = rounds.names(at).filter((name) => peers.has(name));
    const fastest = all.toSorted(
      (a, b) => rounds.figure(at, b, "perSecond") - rounds.figure(at, a, "perSecond"),
    )[0];
    const quickest = all.toSorted((a, b) => rounds.figure(at, a, "p99Us") - rounds.figure(at, b, "p99Us"))[0];
    const times = (field: keyof Figures, other: string) => rounds.ratio(field, [at, ours], [at, other]);
    if (quickest !== undefined) judge(`${at}: p99 × ${quickest}`, times("p99Us", quickest), "at most", 1);
    if (fastest !== undefined && scenario.inFlight === 32) {
      const timesPeer = times("perSecond", fastest);
      if (scenario.size === small) judge(`${at}: calls/s × ${fastest}`, timesPeer, "at least", 3);
      else {
        const timesPipe = times("perSecond", pipe);
        // Three times the peer, or 0.7 of the pipe, whichever is less.
        judge(
          `${at}: share of 3 × ${fastest} or 0.7 × pipe`,
          Math.max(timesPeer / 3, timesPipe / 0.7),
          "at least",
          1,
        );
      }
    }
    if (scenario.size === large)
      console.log(`       ${at}: CPU × byte pipe: ${times("cpuUs", pipe).toFixed(2)} (no bar)`);
    else if (scenario.tools === 1) judge(`${at}: CPU × floor`, times("cpuUs", floor), "at most", 3);
    else judge(`${at}: calls/s × one tool`, times("perSecond", "with one tool"), "at least", 0.9);
  }
}

function label({ era, size, tools, inFlight }: Scenario): string {
  const result = size === small ? "100 B" : "1 MB";
  return `${era}, ${result}, ${tools === 1 ? "1 tool" : "10,000 tools"}, ${inFlight === 1 ? "one by one" : "32 in flight"}`;
}

async function start(starting: Promise<Contender>[]): Promise<Contender[]> {
  const settled = await Promise.allSettled(starting);
  return settled.flatMap((result) => {
    if (result.status === "rejected") {
      console.log(`did not start: ${String(result.reason)}`);
      process.exitCode = 1;
      return [];
    }
    stack.defer(() => result.value.stop());
    return [result.value];
  });
}
