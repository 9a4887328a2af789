import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { errorTable } from "../../src/index.ts";

const manifest = JSON.parse(readFileSync("package.json", "utf8")) as {
  bin: Record<string, string>;
  exports: Record<string, string | { default: string; types: string }>;
};

describe("the package", () => {
  it("has current generated references", () => {
    execFileSync(process.execPath, ["scripts/generate.ts", "--check"], { stdio: "pipe" });
  });

  it("exports only files that the build makes", () => {
    const targets = Object.values(manifest.exports).flatMap((entry) =>
      typeof entry === "string" ? [entry] : [entry.default, entry.types],
    );
    expect([...targets, ...Object.values(manifest.bin)].filter((path) => !existsSync(path))).toEqual([]);
  });

  it("records no registry address in the lock file", () => {
    expect(readFileSync("package-lock.json", "utf8")).not.toMatch(/"resolved": "https?:/);
  });

  it("gives every error a hint and an exit code that a shell can tell from success", () => {
    for (const [code, { hint, exitCode, meaning }] of Object.entries(errorTable)) {
      expect([code, hint.length > 5, exitCode > 0, meaning.length > 10]).toEqual([code, true, true, true]);
    }
  });
});
