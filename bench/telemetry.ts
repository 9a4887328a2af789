/**
 * Measures what telemetry costs the gateway before a stdio echo server: off, off once more (the noise), and on with a span
 * for every request of a client and to the server, metrics, and an exporter that drops them. With `--before FOLDER` also
 * the gateway of another checkout, such as one without telemetry. The cells are those of bench/gateway.ts for one tool:
 * both eras, one by one and 32 in flight, 100 bytes and 1 MB; the bar is for their geometric mean, and each is printed.
 * All run at the same time and take short turns, so that load on the machine affects them equally; a ratio is the median
 * of the ratios of each round.
 * Requires Linux with two cores. Run: npm run build && node bench/telemetry.ts [--rounds 15] [--ms 400] [--before FOLDER] [--source]
 */
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { startOurGateway } from "./gateway/contenders.ts";
import type { Contender } from "./gateway/contenders.ts";
import { judge, Rounds } from "./gateway/figures.ts";
import { cpuUs, residentMb } from "./gateway/process-costs.ts";
import { echoCommand, startLoad } from "./gateway/processes.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "15" },
    ms: { type: "string", default: "400" },
    before: { type: "string" },
    source: { type: "boolean", default: false },
  },
});
const build = values.source ? "src" : "dist";
const [command = "", ...args] = echoCommand(1);
const servers = { echo: { command, args } };
const rounds = new Rounds();
const eras = ["legacy", "modern"] as const;
const large = 1_000_000;
const cells = eras.flatMap((era) =>
  [undefined, large].flatMap((size) =>
    [1, 32].map((inFlight) => ({
      era,
      size,
      inFlight,
      name: `${era}, ${size === large ? "1 MB" : "100 B"}, ${inFlight === 1 ? "one by one" : "32 in flight"}`,
    })),
  ),
);
type Cell = (typeof cells)[number];

await using stack = new AsyncDisposableStack();
const load = await startLoad();
stack.defer(() => load.stop());
const contenders: Contender[] = [
  await start("off"),
  await start("off again"),
  await start("on", { telemetry: true }),
];
if (values.before !== undefined) {
  const programs = join(resolve(values.before), "bench", "gateway", "programs");
  contenders.push(await start("before", { programs }));
}
for (let again = 0; again < 2; again++)
  for (const contender of contenders)
    for (const cell of cells) await take(contender, cell, (cell.inFlight === 1 ? 1 : 6) * Number(values.ms));
for (let round = 0; round < Number(values.rounds); round++) {
  for (const cell of cells)
    for (let turn = 0; turn < contenders.length; turn++) {
      const contender = contenders[(turn + round) % contenders.length] as Contender;
      const cpuBefore = cpuUs(contender.pid);
      const outcome = await take(contender, cell, Number(values.ms));
      const cpu = (cpuUs(contender.pid) - cpuBefore) / outcome.calls;
      const resident = residentMb(contender.pid).now;
      rounds.add(cell.name, contender.name, { ...outcome, cpuUs: cpu, residentMb: resident });
    }
  process.stderr.write(".");
}
process.stderr.write("\n");
rounds.print();
const times = ({ name }: Cell, one: string, other: string) =>
  rounds.ratio("perSecond", [name, one], [name, other]);
for (const cell of cells) {
  const [again, on] = [times(cell, "off again", "off"), times(cell, "on", "off")];
  console.log(`       ${cell.name}: calls/s × off: on ${on.toFixed(3)}, off again ${again.toFixed(3)}`);
}
console.log(
  `       all cells: calls/s of off, again × off: ${mean("off again", "off").toFixed(3)} (the noise)`,
);
if (values.before !== undefined)
  judge("all cells: calls/s of off × before", mean("off", "before"), "at least", 0.97);
// Two processes of the same program differ, too, so both of those without telemetry count.
judge(
  "all cells: calls/s of on × off, both of them",
  Math.sqrt(mean("on", "off") * mean("on", "off again")),
  "at least",
  0.9,
);

/** The geometric mean over the cells. */
function mean(one: string, other: string): number {
  return Math.exp(cells.reduce((sum, cell) => sum + Math.log(times(cell, one, other)), 0) / cells.length);
}

async function start(name: string, options: Parameters<typeof startOurGateway>[2] = {}): Promise<Contender> {
  const started = await startOurGateway(build, servers, options);
  stack.defer(() => started.stop());
  return { ...started, name };
}

async function take(
  { targets, name }: Pick<Contender, "targets" | "name">,
  { era, size, inFlight }: Cell,
  ms: number,
) {
  const target = targets[era];
  if (!target) throw new Error(`nothing serves ${era}`);
  const outcome = await load.run({ target, inFlight, ms, ...(size !== undefined && { size }) });
  if (outcome.failures > 0)
    throw new Error(`${name}: ${outcome.failures} calls failed: ${outcome.firstFailure}`);
  return outcome;
}
