import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { readModule } from "../../scripts/library/declarations.ts";
import { compile, installPackage, linkModule } from "../packed-package.ts";
import { runNode } from "../run-command.ts";

interface Target {
  types: string;
  default: string;
}
const { exports, peerDependencies } = JSON.parse(readFileSync("package.json", "utf8")) as {
  exports: Record<string, string | Target>;
  peerDependencies: Record<string, string>;
};
const entries = Object.entries(exports).filter(([, target]) => typeof target !== "string");
const specifiers = entries.map(([path]) => join("plugboard", path));

const namesOf = (file: string) => readModule(file).exported.map(({ name = "*" }) => name);
const core = ["src/index.ts", "src/config.ts", "src/host.ts"];

const alias = (specifier: string) => specifier.replaceAll(/\W/g, "_");
/** What a program imports only beside the SDK of the same name. */
const needsSdk = (specifier: string) =>
  /\/(ai-sdk|anthropic|google|langchain|openai|openai-agents|telemetry)$/.test(specifier);

describe("the entries", () => {
  it("fit on a page: plugboard has at most 60 names", () => {
    const names = namesOf("src/index.ts");
    expect(names.length).toBeLessThanOrEqual(60);
    expect(names).not.toContain("*");
    expect(names).toEqual(expect.arrayContaining(["createHub", "Hub", "loadConfig", "PlugboardError"]));
  });

  it("have each name once among plugboard, plugboard/config and plugboard/host", () => {
    const names = core.flatMap(namesOf);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    expect(names.length).toBeGreaterThan(200);
  });

  it("have types that hold with the newest types of Node.js, without the SDKs and with them", async () => {
    const { folder, remove } = installPackage("types-node-newest");
    onTestFinished(remove);
    const write = (file: string, names: readonly string[]) =>
      writeFileSync(
        join(folder, file),
        names.map((name) => `export * as ${alias(name)} from "${name}";\n`).join(""),
      );
    const ownMistakes = async (file: string) => {
      const { out } = await compile(folder, [file]);
      return out.split("\n").filter((line) => /^(node_modules\/plugboard\b|\w+\.ts)/.test(line));
    };
    write(
      "own.ts",
      specifiers.filter((name) => !needsSdk(name)),
    );
    expect(await compile(folder, ["own.ts"])).toEqual({ code: 0, out: "", err: "" });
    write("all.ts", specifiers);
    // What this would find if it was there: the SDKs are missing.
    expect((await ownMistakes("all.ts")).join("\n")).toContain("Cannot find module 'ai'");
    for (const name of Object.keys(peerDependencies)) linkModule(folder, name);
    expect(await ownMistakes("all.ts")).toEqual([]);
  });

  it("can all be imported from the published package, with types", async () => {
    const { folder, remove } = installPackage();
    onTestFinished(remove);
    for (const name of Object.keys(peerDependencies)) linkModule(folder, name);
    const imports = specifiers.map((name, index) => `import * as entry${index} from "${name}";`);
    // `any` would pass for a name that does not exist.
    const checks = specifiers.map(
      (_, index) => `const none${index}: string = entry${index}.thereIsNoSuchName;`,
    );
    writeFileSync(join(folder, "entries.ts"), imports.join("\n"));
    writeFileSync(join(folder, "wrong.ts"), [...imports, ...checks].join("\n"));
    expect(await compile(folder, ["entries.ts"], { skipLibCheck: true })).toEqual({
      code: 0,
      out: "",
      err: "",
    });
    const { out } = await compile(folder, ["wrong.ts"], { skipLibCheck: true });
    expect(out.match(/error TS2\d{3}: Property 'thereIsNoSuchName' does not exist/g)?.length).toBe(
      specifiers.length,
    );
    const program = specifiers.map((name) => `console.log(Object.keys(await import("${name}")).length > 0);`);
    writeFileSync(join(folder, "load.mjs"), program.join("\n"));
    const run = await runNode(["load.mjs"], { cwd: folder });
    expect(run).toEqual({ code: 0, out: "true\n".repeat(specifiers.length), err: "" });
  }, 120_000);
});
