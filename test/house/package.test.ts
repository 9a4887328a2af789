import { execFileSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { bundleCommandLine, bundleLibrary } from "../../scripts/bundle.ts";
import { packageFolders, packageName } from "../../scripts/licences.ts";
import { errorTable } from "../../src/host.ts";
import { oldestNode, runtimeProblem } from "../../src/lib/runtime.ts";
import { codeBlocks } from "../code-blocks.ts";
import { compile, installPackage } from "../packed-package.ts";
import { runNode, runProgram } from "../run-command.ts";

const manifest = JSON.parse(readFileSync("package.json", "utf8")) as {
  bin: Record<string, string>;
  engines: { node: string };
  exports: Record<string, string | { default: string; types: string }>;
};

describe("the package", () => {
  const { folder, remove } = installPackage();
  afterAll(remove);
  writeFileSync(join(folder, "old.cjs"), disguise);

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

  it("is written in a language that the oldest supported Node.js understands", () => {
    const files = globSync("dist/**/*.js");
    // The only syntax of ours that Node.js 22 lacks.
    const newer = files.filter((file) =>
      /[;{}]\s*(?:await )?using [\w$]+\s*=/.test(readFileSync(file, "utf8")),
    );
    expect(newer).toEqual([]);
    expect(files.length).toBeGreaterThan(20);
  });

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

  it.each([
    ["the command line", "dist/cli", bundleCommandLine, ["commander", "undici", "yaml", "zod"]],
    ["the library", "dist", bundleLibrary, ["zod"]],
  ] as const)(
    "contains the licence of every package that is bundled into %s",
    async (_, place, open, some) => {
      const bundle = await open();
      const { output } = await bundle.generate({ format: "esm" });
      await bundle.close();
      const modules = output.flatMap((part) => (part.type === "chunk" ? part.moduleIds : []));
      const notices = readFileSync(`${place}/THIRD_PARTY_LICENSES.txt`, "utf8");
      const bundled = packageFolders(modules).map(packageName);
      expect(bundled).toEqual(expect.arrayContaining([...some]));
      const named = [...notices.matchAll(/^-{80}\n\n(\S+) \d\S* \(\S+\)$/gm)].map(([, name]) => name);
      expect(named).toEqual(bundled);
      const grants = notices.match(
        /Permission is hereby granted|Permission to use, copy, modify|Apache License/g,
      );
      expect(grants?.length).toBeGreaterThanOrEqual(bundled.length);
    },
  );

  it("has no registry URL in the lock file", () => {
    expect(readFileSync("package-lock.json", "utf8")).not.toMatch(/"resolved": "https?:/);
  });

  it("tells people with an old runtime so in one sentence, before anything else can fail", async () => {
    expect(manifest.engines.node).toBe(`>=${oldestNode}`);
    expect(runtimeProblem({ node: "22.22.1" })).toBe(sentence("22.22.1"));
    expect(["22.22.2", "22.23.0", "24.0.0"].map((node) => runtimeProblem({ node }))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(runtimeProblem({ node: "22.6.0", bun: "1.2.0" })).toMatch(/^Plugboard needs a Bun .*\.$/);
    const use = {
      "catch.mjs": 'await import("plugboard").catch((e) => console.error(e.message));',
      "import.mjs": 'import "plugboard";',
      "later.mjs": 'setTimeout(() => import("plugboard/config"), 1);',
    };
    for (const [file, program] of Object.entries(use)) writeFileSync(join(folder, file), program);
    const main = join("node_modules", "plugboard", "dist", "cli", "main.js");
    for (const [program, flags, version] of oldRuntimes()) {
      const err = `${sentence(version)}\n`;
      const run = (...args: string[]) => runProgram(program, [...flags, ...args], { cwd: folder });
      expect(await run(main, "list")).toEqual({ code: 1, out: "", err });
      expect(await run("catch.mjs")).toEqual({ code: 0, out: "", err });
      expect(await run("import.mjs")).toEqual({ code: 1, out: "", err });
      expect(await run("later.mjs")).toEqual({ code: 1, out: "", err });
    }
  });

  it("leaves programs that do without it to fail in their own way on an old runtime", async () => {
    const goOn = ["missing();", "queueMicrotask(() => missing());", "setTimeout(() => missing(), 1);"];
    for (const [index, rest] of goOn.entries()) {
      const program = `await import("plugboard").catch(() => {}); ${rest}`;
      writeFileSync(join(folder, `without-${index}.mjs`), program);
      for (const [node, flags] of oldRuntimes()) {
        const { code, err } = await runProgram(node, [...flags, `without-${index}.mjs`], { cwd: folder });
        expect(code).toBe(1);
        expect(err).toMatch(/^ReferenceError: missing is not defined\n +at /m);
      }
    }
  });

  it("names the newer Node.js of the folder, which `npx` uses", async () => {
    mkdirSync(join(folder, "programs"));
    writeFileSync(join(folder, "programs/demo.mjs"), 'import "plugboard";');
    const place = join(folder, "node_modules", "node-of-here");
    mkdirSync(join(place, "bin"), { recursive: true });
    writeFileSync(join(place, "bin/node"), "");
    mkdirSync(join(folder, "node_modules/.bin"));
    symlinkSync("../node-of-here/bin/node", join(folder, "node_modules/.bin/node"));
    const advice: [string, string][] = [
      ["24.21.0", " In this folder, `npx node programs/demo.mjs` uses Node.js 24.21.0."],
      ["20.1.0", ""],
    ];
    for (const [newer, text] of advice) {
      writeFileSync(join(place, "package.json"), JSON.stringify({ version: newer }));
      for (const [node, flags, version] of oldRuntimes()) {
        const run = await runProgram(node, [...flags, "programs/demo.mjs"], { cwd: folder });
        expect(run).toEqual({ code: 1, out: "", err: `${sentence(version)}${text}\n` });
      }
    }
  });

  it("gives every error a hint and a non-zero exit code", () => {
    for (const [code, { hint, exitCode, meaning }] of Object.entries(errorTable)) {
      expect([code, hint.length > 5, exitCode > 0, meaning.length > 10]).toEqual([code, true, true, true]);
    }
  });
});

const sentence = (node: string) => `Plugboard needs Node.js 22.22.2 or newer; this is Node.js ${node}.`;

/** Makes this Node.js look too old. */
const disguise = `Object.defineProperty(process, "versions", { value: { node: "18.20.0" } });`;

/** Programs with their options and version: this Node.js in disguise (`old.cjs`), and those of this machine. */
function oldRuntimes(): [string, string[], string][] {
  const real = oldNodes().map(([path, version]): [string, string[], string] => [path, [], version]);
  return [[process.execPath, ["--require", "./old.cjs"], "18.20.0"], ...real];
}

/** Real ones on this machine that are too old, with their versions. */
function oldNodes(): [string, string][] {
  const paths = (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "node"));
  return [...new Set(paths.filter((path) => existsSync(path)))].flatMap((path): [string, string][] => {
    const version = execFileSync(path, ["--version"], { encoding: "utf8" }).trim().slice(1);
    return runtimeProblem({ node: version }) === undefined ? [] : [[path, version]];
  });
}
