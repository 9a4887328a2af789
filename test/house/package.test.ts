import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { errorTable } from "../../src/index.ts";
import { codeBlocks } from "../code-blocks.ts";
import { compile, installPackage } from "../packed-package.ts";
import { runNode } from "../run-command.ts";

const manifest = JSON.parse(readFileSync("package.json", "utf8")) as {
  bin: Record<string, string>;
  exports: Record<string, string | { default: string; types: string }>;
};

describe("the package", () => {
  it("has up-to-date generated references", () => {
    execFileSync(process.execPath, ["scripts/generate.ts", "--check"], { stdio: "pipe" });
  });

  it("exports only files that the build creates", () => {
    const targets = Object.values(manifest.exports).flatMap((entry) =>
      typeof entry === "string" ? [entry] : [entry.default, entry.types],
    );
    expect([...targets, ...Object.values(manifest.bin)].filter((path) => !existsSync(path))).toEqual([]);
  });

  it("includes test servers with types, without our development tools", async () => {
    const { folder, remove } = installPackage();
    onTestFinished(remove);
    const [block] = codeBlocks(readFileSync("docs/testing.md", "utf8")).filter(
      ({ language }) => language === "ts",
    );
    const program = block?.text ?? "";
    writeFileSync(join(folder, "log-in.ts"), program);
    expect(await compile(folder, ["log-in.ts"])).toEqual({ code: 0, out: "", err: "" });
    const run = await runNode(["log-in.ts"], { cwd: folder, env: { HOME: folder } });
    expect(run).toEqual({ code: 0, out: "", err: "" });
    expect(program).toContain("hub.login");
  }, 120_000);

  it("has no registry URL in the lock file", () => {
    expect(readFileSync("package-lock.json", "utf8")).not.toMatch(/"resolved": "https?:/);
  });

  it("gives every error a hint and a non-zero exit code", () => {
    for (const [code, { hint, exitCode, meaning }] of Object.entries(errorTable)) {
      expect([code, hint.length > 5, exitCode > 0, meaning.length > 10]).toEqual([code, true, true, true]);
    }
  });
});
