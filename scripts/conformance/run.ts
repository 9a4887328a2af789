/**
 * Runs the official conformance suite with the hub as the client. Prints one line per set of scenarios, and failures.
 * Run: node scripts/conformance/run.ts [--only pattern], which runs only the sets whose name contains the pattern.
 */
import { spawn } from "node:child_process";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { knownToFail, timed } from "./exceptions.ts";

interface ScenarioSet {
  name: string;
  /** The release of the suite, by its package.json. */
  release: string;
  args: string[];
}

interface Outcome {
  scenario: string;
  passed: number;
  /** The problems that the suite reports. */
  problems: string[];
}

interface Check {
  name: string;
  status: "SUCCESS" | "FAILURE" | "WARNING" | "INFO" | "SKIPPED";
  description: string;
  errorMessage?: string;
}

const stable = import.meta.resolve("conformance-stable/package.json");
const next = import.meta.resolve("conformance-next/package.json");

const sets: ScenarioSet[] = [
  { name: "0.1.16 all", release: stable, args: ["--suite", "all"] },
  ...["2025-03-26", "2025-06-18"].map((revision): ScenarioSet => ({
    name: `0.2.0-alpha.12 all at ${revision}`,
    release: next,
    args: ["--suite", "all", "--spec-version", revision],
  })),
  ...["2025-11-25", "2026-07-28"].flatMap((revision): ScenarioSet[] => [
    {
      name: `0.2.0-alpha.12 all at ${revision}`,
      release: next,
      args: ["--suite", "all", "--spec-version", revision],
    },
    {
      name: `0.2.0-alpha.12 required by ${revision}`,
      release: next,
      args: ["--requirements", revision],
    },
  ]),
];

const root = join(import.meta.dirname, "..", "..");
const { only = "" } = parseArgs({ options: { only: { type: "string" } } }).values;
const chosen = sets.filter(({ name }) => name.includes(only));
if (chosen.length === 0) {
  console.error(`No set matches "${only}". Available: ${sets.map(({ name }) => name).join(", ")}.`);
  process.exitCode = 2;
}
for (const set of chosen) report(set, await runSet(set));

/** The suite starts all scenarios of a set at once. */
async function runSet(set: ScenarioSet): Promise<Outcome[]> {
  const outcomes = await runSuite(set, ({ folder, summary }) => {
    const scenarios = [...summary.matchAll(/^[✓✗-] (\S+): /gm)].map(([, scenario = ""]) => scenario);
    return Promise.all(scenarios.map((scenario) => readOutcome(folder, scenario)));
  });
  return Promise.all(
    outcomes.map(async (outcome) => {
      if (outcome.problems.length === 0 || !timed.test(outcome.scenario)) return outcome;
      return runSuite({ ...set, args: ["--scenario", outcome.scenario] }, ({ folder }) =>
        readOutcome(folder, outcome.scenario),
      );
    }),
  );
}

async function runSuite<T>(
  { release, args }: ScenarioSet,
  read: (results: { folder: string; summary: string }) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "plugboard-conformance-"));
  try {
    const program = fileURLToPath(new URL("dist/index.js", release));
    const client = ["--command", "node scripts/conformance/client.ts", "--output-dir", folder];
    const summary = await output(folder, process.execPath, [program, "client", ...args, ...client]);
    return await read({ folder, summary });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function output(folder: string, command: string, args: string[]): Promise<string> {
  const path = `${dirname(process.execPath)}${delimiter}${process.env["PATH"] ?? ""}`;
  // All clients of a set start at once and share compiled code.
  const env = { ...process.env, PATH: path, NODE_COMPILE_CACHE: join(folder, "compiled") };
  const child = spawn(command, args, { cwd: root, env, stdio: ["ignore", "pipe", "ignore"] });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  await new Promise((resolve, reject) => child.once("close", resolve).once("error", reject));
  return text;
}

/** Stricter than the suite, which ignores the client's exit code when it runs a whole set. */
async function readOutcome(folder: string, scenario: string): Promise<Outcome> {
  // The results of "auth/basic" are in a subfolder, with the time appended to its name.
  const place = join(folder, dirname(scenario));
  const own = (await readdir(place)).find(
    (name) => name.replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, "") === basename(scenario),
  );
  if (own === undefined) return { scenario, passed: 0, problems: ["no results"] };
  const read = (file: string) => readFile(join(place, own, file), "utf8");
  const checks = JSON.parse(await read("checks.json")) as Check[];
  const passed = checks.filter(({ status }) => status === "SUCCESS").length;
  const problems = checks
    .filter(({ status }) => status === "FAILURE" || status === "WARNING")
    .map(({ name, description, errorMessage = description }) => `${name}: ${errorMessage}`);
  if (passed === 0) problems.push("nothing was checked");
  if (!(await read("stdout.txt")).endsWith("finished\n"))
    problems.push(`the client failed: ${await read("stderr.txt")}`);
  return { scenario, passed, problems };
}

function report({ name }: ScenarioSet, outcomes: Outcome[]): void {
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
