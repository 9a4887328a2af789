/**
 * Runs the official conformance suite with the hub as the client, and with the gateway as the server. Prints one line
 * per set of scenarios, and failures.
 * Run: node scripts/conformance/run.ts [--as client|server] [--only name]…
 */
import { parseArgs } from "node:util";
import type { Era } from "./everything/wire.ts";
import { acrossTheBridge, timed } from "./exceptions.ts";
import { serveEverything } from "./serve.ts";
import { runSuite, type Outcome, type Subject } from "./suite.ts";

interface ScenarioSet {
  name: string;
  /** The release of the suite, by its package.json. */
  release: string;
  args: string[];
  /** The era of the server behind the gateway, if that is what is tested. */
  upstream?: Era;
  /** Scenarios that are known to fail, and why. */
  knownToFail?: Readonly<Record<string, string>>;
}

const stable = import.meta.resolve("conformance-stable/package.json");
const next = import.meta.resolve("conformance-next/package.json");

const all = (revision: string): ScenarioSet => ({
  name: `0.2.0-alpha.12 all at ${revision}`,
  release: next,
  args: ["--suite", "all", "--spec-version", revision],
});
const required = (revision: string): ScenarioSet => ({
  name: `0.2.0-alpha.12 required by ${revision}`,
  release: next,
  args: ["--requirements", revision],
});
const stableAll: ScenarioSet = { name: "0.1.16 all", release: stable, args: ["--suite", "all"] };

const asClient = [
  stableAll,
  all("2025-03-26"),
  all("2025-06-18"),
  all("2025-11-25"),
  required("2025-11-25"),
  all("2026-07-28"),
  required("2026-07-28"),
];
const behind = (upstream: Era, set: ScenarioSet): ScenarioSet => ({
  ...set,
  name: `${upstream} server behind the gateway, ${set.name}`,
  upstream,
});
const asServer = [
  ...[stableAll, required("2025-11-25")].map((set) => behind("legacy", set)),
  ...[required("2026-07-28"), all("2026-07-28")].map((set) => behind("modern", set)),
  // A client of the other era.
  ...[stableAll, required("2025-11-25")].map((set) => behind("modern", set)),
  ...[required("2026-07-28"), all("2026-07-28")].map((set) => ({
    ...behind("legacy", set),
    knownToFail: acrossTheBridge,
  })),
];

const options = { as: { type: "string" }, only: { type: "string", multiple: true } } as const;
const { as, only = [""] } = parseArgs({ options }).values;
const sets = [...(as === "server" ? [] : asClient), ...(as === "client" ? [] : asServer)];
const chosen = sets.filter(({ name }) => only.some((part) => name.includes(part)));
if (chosen.length === 0) {
  console.error(
    `No set matches "${only.join('" or "')}". Available: ${sets.map(({ name }) => name).join(", ")}.`,
  );
  process.exitCode = 2;
}
for (const set of chosen)
  report(set, await (set.upstream ? runAsServer(set, set.upstream) : runWith(set, { role: "client" })));

async function runAsServer(set: ScenarioSet, upstream: Era): Promise<Outcome[]> {
  await using served = await serveEverything(upstream);
  return await runWith(set, { role: "server", url: served.url });
}

/** Runs a set. Scenarios that measure time and fail get another chance, alone. */
async function runWith({ release, args }: ScenarioSet, subject: Subject): Promise<Outcome[]> {
  const outcomes = await runSuite(release, args, subject);
  for (const [at, { scenario, problems }] of outcomes.entries()) {
    if (problems.length === 0 || !timed.has(scenario)) continue;
    const [again] = await runSuite(release, ["--scenario", scenario], subject);
    if (again) outcomes[at] = again;
  }
  return outcomes;
}

function report({ name, knownToFail = {} }: ScenarioSet, outcomes: Outcome[]): void {
  const failed = outcomes.filter(({ problems }) => problems.length > 0);
  const passed = outcomes.length - failed.length;
  console.log(`${name}: ${passed} of ${outcomes.length} scenarios`);
  for (const { scenario, problems } of outcomes) {
    const known = knownToFail[scenario];
    if ((known !== undefined) === problems.length > 0) {
      if (known !== undefined) console.log(`  ${scenario}, known failure: ${known}`);
      continue;
    }
    process.exitCode = 1;
    if (known !== undefined) console.log(`  ${scenario} passes: remove it from the list of known failures`);
    for (const problem of problems) console.log(`  ${scenario}: ${problem}`);
  }
  if (outcomes.length === 0) process.exitCode = 1;
}
