import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { styleText } from "node:util";
import { has, howToGet, programs, type ProgramName } from "../test/machine.ts";

/**
 * Runs tests and prints the counts on the last line. Passes arguments to vitest, except two: with `--complete` a test
 * that is skipped is a failure, as on the machine that decides what lands; `--missing` runs nothing and prints the
 * command that brings the programs which are not here.
 */
const isComplete = process.argv.includes("--complete");
const missing = (Object.keys(programs) as ProgramName[]).filter((name) => !has(name));
if (process.argv.includes("--missing")) {
  console.log(howToGet(missing));
  process.exit();
}

const passedOn = process.argv.slice(2).filter((word) => word !== "--complete");
const isChosen = passedOn.some((word) => word.startsWith("--project"));
const folder = mkdtempSync(join(tmpdir(), "plugboard-test-"));
const results = join(folder, "results.json");
const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${results}`];
const projects = isChosen ? [] : ["--project=!long"];
const { status } = spawnSync(
  process.execPath,
  ["node_modules/vitest/vitest.mjs", "run", ...reporters, ...projects, ...passedOn],
  { stdio: "inherit" },
);

const { passed, failed, skipped } = countsOf(results);
rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
if (skipped.length > 0 && (isComplete || missing.length === 0))
  console.log(`Skipped${isComplete ? ", which --complete forbids" : ""}:\n  ${skipped.join("\n  ")}`);
if (missing.length > 0) {
  const tests = missing.map((name) => `${programs[name].tests} (${name})`).join(", ");
  console.log(styleText("yellow", `Not tested: ${tests}. On Debian: ${howToGet(missing)}`));
}
const wrong = failed + (isComplete ? skipped.length : 0);
const rest = skipped.length > 0 && !isComplete ? `, ${skipped.length} skipped` : "";
console.log(`${passed} passed, ${wrong} failed${rest}`);
process.exitCode = wrong === 0 ? 0 : 1;

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  numFailedTestSuites: number;
  testResults: { assertionResults: { status: string; fullName: string }[] }[];
}

/** Without a readable report nothing is known to have passed. */
function countsOf(path: string): { passed: number; failed: number; skipped: string[] } {
  let report: Report;
  try {
    report = JSON.parse(readFileSync(path, "utf8")) as Report;
  } catch {
    return { passed: 0, failed: 1, skipped: [] };
  }
  const { numPassedTests, numFailedTests, numFailedTestSuites, testResults } = report;
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  return {
    passed: numPassedTests,
    failed: numFailedTests || (status === 0 ? 0 : Math.max(1, numFailedTestSuites)),
    skipped: tests.filter((test) => test.status === "skipped").map(({ fullName }) => fullName),
  };
}
