/**
 * Measures what telemetry costs the gateway before a stdio echo server: off, off once more (the noise), and on with a span
 * for every request of a client and to the server, metrics, and an exporter that drops them. With `--before FOLDER` also
 * the gateway of another checkout, such as one without telemetry. All run at the same time and take short turns, so that
 * load on the machine affects them equally; a ratio is the median of the ratios of each round.
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
for (const { targets } of contenders)
  for (const era of eras) await take({ targets }, era, 16 * Number(values.ms));
for (let round = 0; round < Number(values.rounds); round++) {
  for (const era of eras)
    for (let turn = 0; turn < contenders.length; turn++) {
      const contender = contenders[(turn + round) % contenders.length] as Contender;
      const cpuBefore = cpuUs(contender.pid);
      const outcome = await take(contender, era, Number(values.ms));
      const cpu = (cpuUs(contender.pid) - cpuBefore) / outcome.calls;
      const resident = residentMb(contender.pid).now;
      rounds.add(era, contender.name, { ...outcome, cpuUs: cpu, residentMb: resident });
    }
  process.stderr.write(".");
}
process.stderr.write("\n");
rounds.print();
for (const era of eras) {
  const times = (one: string, other: string) => rounds.ratio("perSecond", [era, one], [era, other]);
  console.log(
    `       ${era}: calls/s of off, again × off: ${times("off again", "off").toFixed(3)} (the noise)`,
  );
  if (values.before !== undefined)
    judge(`${era}: calls/s of off × before`, times("off", "before"), "at least", 0.97);
  judge(`${era}: calls/s of on × off`, times("on", "off"), "at least", 0.9);
}

async function start(name: string, options: Parameters<typeof startOurGateway>[2] = {}): Promise<Contender> {
  const started = await startOurGateway(build, servers, options);
  stack.defer(() => started.stop());
  return { ...started, name };
}

async function take({ targets }: Pick<Contender, "targets">, era: "legacy" | "modern", ms: number) {
  const target = targets[era];
  if (!target) throw new Error(`nothing serves ${era}`);
  const outcome = await load.run({ target, inFlight: 32, ms });
  if (outcome.failures > 0) throw new Error(`${outcome.failures} calls failed: ${outcome.firstFailure}`);
  return outcome;
}
