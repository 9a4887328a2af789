import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { styleText } from "node:util";
import { has, programs, type ProgramName } from "../test/machine.ts";

/**
 * Runs tests and prints the counts on the last line. Passes arguments to vitest, except `--complete`: then a test that
 * is skipped is a failure, as on the machine that decides what lands.
 */
const isComplete = process.argv.includes("--complete");
const passedOn = process.argv.slice(2).filter((word) => word !== "--complete");
const missing = (Object.keys(programs) as ProgramName[]).filter((name) => !has(name));
const packages = [...new Set(missing.flatMap((name) => programs[name].packages))].join(" ");

const folder = mkdtempSync(join(tmpdir(), "plugboard-test-"));
const results = join(folder, "results.json");
const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${results}`];
const { status } = spawnSync(
  process.execPath,
  ["node_modules/vitest/vitest.mjs", "run", ...reporters, ...passedOn],
  { stdio: "inherit" },
);

const { passed, failed, skipped } = countsOf(results);
rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
const isIncomplete = isComplete && skipped.length > 0;
if (isIncomplete) console.log(`Skipped, which --complete forbids:\n  ${skipped.join("\n  ")}`);
if (missing.length > 0) {
  const tests = missing.map((name) => `${programs[name].tests} (${name})`).join(", ");
  console.log(styleText("yellow", `Not tested: ${tests}. On Debian: apt-get install ${packages}`));
}
console.log(`${passed} passed, ${failed} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ""}`);
process.exitCode = status === 0 && failed === 0 && !isIncomplete ? 0 : 1;

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
