import { execFileSync } from "node:child_process";
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { bundleCommandLine } from "../../scripts/bundle.ts";
import { packageFolders, packageName } from "../../scripts/licences.ts";
import { errorTable } from "../../src/index.ts";
import { runNode } from "../run-command.ts";

const manifest = JSON.parse(readFileSync("package.json", "utf8")) as {
  version: string;
  bin: Record<string, string>;
  dependencies: Record<string, string>;
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
    const folder = unpack();
    const [, program = ""] = /^```ts\n(.*?)^```/ms.exec(readFileSync("docs/testing.md", "utf8")) ?? [];
    writeFileSync(join(folder, "log-in.ts"), program);
    link(folder, "@types/node");
    const flags = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2024", "--types", "node"];
    const lib = ["--lib", "es2024,esnext.disposable"];
    const tsc = resolve("node_modules/typescript/bin/tsc");
    const checked = await runNode([tsc, ...flags, ...lib, "log-in.ts"], { cwd: folder });
    expect(checked).toEqual({ code: 0, out: "", err: "" });
    const run = await runNode(["log-in.ts"], { cwd: folder, env: { HOME: folder } });
    expect(run).toEqual({ code: 0, out: "", err: "" });
    expect(program).toContain("hub.login");
  }, 120_000);

  it("contains no source map that leads nowhere", () => {
    const files = globSync("dist/**/*", { withFileTypes: true }).filter((entry) => entry.isFile());
    const maps = files.filter(({ name }) => name.endsWith(".map")).map(({ name }) => name);
    const linked = files.filter(({ name, parentPath }) => {
      const text = name.endsWith(".js") ? readFileSync(join(parentPath, name), "utf8") : "";
      return text.includes("\n//# sourceMappingURL=");
    });
    expect({ maps, linked }).toEqual({ maps: [], linked: [] });
    expect(files.length).toBeGreaterThan(100);
  });

  it("contains the licence of every package that is bundled into the command line", async () => {
    const bundle = await bundleCommandLine();
    const { output } = await bundle.generate({ format: "cjs" });
    await bundle.close();
    const modules = output.flatMap((part) => (part.type === "chunk" ? part.moduleIds : []));
    const notices = readFileSync("dist/cli/THIRD_PARTY_LICENSES.txt", "utf8");
    const bundled = packageFolders(modules).map(packageName);
    expect(bundled).toEqual(expect.arrayContaining(["commander", "undici", "yaml", "zod"]));
    const named = [...notices.matchAll(/^-{80}\n\n(\S+) \d\S* \(\S+\)$/gm)].map(([, name]) => name);
    expect(named).toEqual(bundled);
    const grants = notices.match(
      /Permission is hereby granted|Permission to use, copy, modify|Apache License/g,
    );
    expect(grants?.length).toBeGreaterThanOrEqual(bundled.length);
  });

  it("has no registry URL in the lock file", () => {
    expect(readFileSync("package-lock.json", "utf8")).not.toMatch(/"resolved": "https?:/);
  });

  it("gives every error a hint and a non-zero exit code", () => {
    for (const [code, { hint, exitCode, meaning }] of Object.entries(errorTable)) {
      expect([code, hint.length > 5, exitCode > 0, meaning.length > 10]).toEqual([code, true, true, true]);
    }
  });
});

/** Installs the published files in an empty folder, with only the declared dependencies. */
function unpack(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "plugboard-package-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }));
  execFileSync("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], { stdio: "pipe" });
  const place = join(folder, "node_modules", "plugboard");
  mkdirSync(place, { recursive: true });
  execFileSync("tar", [
    "-xzf",
    join(folder, `plugboard-${manifest.version}.tgz`),
    "-C",
    place,
    "--strip-components=1",
  ]);
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  for (const name of Object.keys(manifest.dependencies)) link(folder, name);
  return folder;
}

function link(folder: string, name: string): void {
  const place = join(folder, "node_modules", name);
  mkdirSync(dirname(place), { recursive: true });
  symlinkSync(resolve("node_modules", name), place);
}
