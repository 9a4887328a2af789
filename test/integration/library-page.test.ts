import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { codeBlocks } from "../code-blocks.ts";
import { compile, installPackage, linkModule } from "../packed-package.ts";
import { runNode } from "../run-command.ts";

const page = readFileSync("docs/library.md", "utf8");
const blocks = codeBlocks(page).filter(({ language }) => ["json", "text", "ts"].includes(language));
/** The programs of the chapters, each with the output that is shown after it. */
const programs = blocks.flatMap(({ language, text, heading }, index) => {
  const next = blocks[index + 1];
  // The reference has declarations instead, which import nothing.
  if (language !== "ts" || !text.startsWith("import ")) return [];
  return [{ heading, text, output: next?.language === "text" ? next.text : undefined }];
});

describe("the programs of docs/library.md", () => {
  const installed = installPackage();
  afterAll(installed.remove);
  const fileOf = (index: number) => `program-${index}.ts`;
  beforeAll(() => {
    const { folder } = installed;
    programs.forEach(({ text }, index) => writeFileSync(join(folder, fileOf(index)), text));
    const readme = codeBlocks(readFileSync("README.md", "utf8")).find(({ language }) => language === "js");
    writeFileSync(join(folder, "readme.ts"), readme?.text ?? "");
    cpSync("examples", join(folder, "examples"), { recursive: true });
    const { peerDependencies } = JSON.parse(readFileSync("package.json", "utf8")) as {
      peerDependencies: object;
    };
    const servers = ["@modelcontextprotocol/server", "@modelcontextprotocol/server-everything"];
    const used = ["@ai-sdk/openai-compatible", "@langchain/openai", "@opentelemetry/context-async-hooks"];
    const modules = [
      ...servers,
      ...Object.keys(peerDependencies),
      ...used,
      "@opentelemetry/sdk-trace",
      ".bin",
    ];
    for (const name of modules) linkModule(folder, name);
    const config = join(folder, ".config", "plugboard");
    mkdirSync(config, { recursive: true });
    const json = blocks.find(({ language }) => language === "json");
    writeFileSync(join(config, "config.json"), json?.text ?? "");
  });

  it("cover every chapter, and each shows its output", () => {
    const [text = ""] = page.split(/^## Reference$/m);
    const chapters = [...text.matchAll(/^## (.*)$/gm)].map(([, title]) => title);
    expect(chapters).toHaveLength(8);
    expect([...new Set(programs.map(({ heading }) => heading))]).toEqual(chapters);
    expect(programs.filter(({ output }) => output === undefined)).toEqual([]);
  });

  describe.each([
    ["the newest TypeScript", "typescript", /^7\./],
    ["the oldest that our dependencies allow", "typescript-oldest", /^5\.4\./],
  ])("compile strictly against the packed package with %s", (_, compiler, version) => {
    const { folder } = installed;
    const clean = { code: 0, out: "", err: "" };

    it("as does the README's", async () => {
      const manifest = readFileSync(resolve("node_modules", compiler, "package.json"), "utf8");
      expect(JSON.parse(manifest)).toMatchObject({ version: expect.stringMatching(version) });
      const files = ["readme.ts", ...programs.keys().map(fileOf)];
      expect(await compile(folder, files, { compiler })).toEqual(clean);
    });

    it("as do those in examples/", async () => {
      const files = globSync("examples/*.ts");
      // Which TypeScript the types of other SDKs need is up to them.
      expect(await compile(folder, files, { compiler, skipLibCheck: true })).toEqual(clean);
    });

    it("and mistakes in them are found", async () => {
      writeFileSync(
        join(folder, "wrong.ts"),
        'import { createHub } from "plugboard";\nawait createHub({ servers: 1 });\n',
      );
      const { out } = await compile(folder, ["wrong.ts"], { compiler, skipLibCheck: true });
      expect(out).toMatch(/^wrong\.ts\(2,19\): error TS2322: Type 'number' is not assignable/);
    });
  });

  it.each(programs.map(({ heading, output }, index) => ({ heading, output, index })))(
    "print what the page shows: $heading, program $index",
    async ({ output, index }) => {
      const { folder } = installed;
      const path = `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}`;
      const run = await runNode([fileOf(index)], { cwd: folder, env: { HOME: folder, PATH: path } });
      expect(run).toEqual({ code: 0, out: output, err: "" });
    },
  );
});
