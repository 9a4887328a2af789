import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Runs all tests and prints the counts on the last line. Passes arguments to vitest. */
const folder = mkdtempSync(join(tmpdir(), "plugboard-test-"));
const results = join(folder, "results.json");
const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${results}`];
const { status } = spawnSync(
  process.execPath,
  ["node_modules/vitest/vitest.mjs", "run", ...reporters, ...process.argv.slice(2)],
  { stdio: "inherit" },
);
let failed = 0;
try {
  const counts = JSON.parse(readFileSync(results, "utf8")) as {
    numPassedTests: number;
    numFailedTests: number;
    numFailedTestSuites: number;
  };
  failed = counts.numFailedTests || (status === 0 ? 0 : Math.max(1, counts.numFailedTestSuites));
  console.log(`${counts.numPassedTests} passed, ${failed} failed`);
} catch {
  failed = 1;
  console.log("0 passed, 1 failed");
}
rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
process.exitCode = status === 0 && failed === 0 ? 0 : 1;
