import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { runNode } from "../run-command.ts";

interface Adapter {
  /** A function that makes tools of a view. */
  tools: string;
  /** The SDK, and what to install. */
  sdk: string;
  install: string;
  /** The packages that it loads; none if it makes plain objects and works without the SDK. */
  loads: string[];
}

const adapters: Record<string, Adapter> = {
  "ai-sdk": { tools: "aiSdkTools", sdk: "ai", install: "ai@7", loads: ["ai", "@ai-sdk"] },
  openai: { tools: "openAiChatTools", sdk: "openai", install: "openai@7", loads: [] },
  "openai-agents": {
    tools: "openAiAgentsTools",
    sdk: "@openai/agents",
    install: "@openai/agents@0.20",
    loads: ["@openai", "openai"],
  },
};
const all = ["ai", "@ai-sdk", "openai", "@openai", "@anthropic-ai", "@langchain", "@google"];
const names = globSync("src/adapters/*.ts").map((file) => basename(file, ".ts"));

/** Which SDKs a program loads that imports an adapter, and then makes tools of an empty hub. */
async function loadedBy(name: string): Promise<{ imported: string[]; used: string[] }> {
  const program = `
    import { registerHooks } from "node:module";
    const loaded = new Set();
    registerHooks({ resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      const [, path] = /.*\\/node_modules\\/(.*)/.exec(resolved.url) ?? [];
      if (path) loaded.add(path.split("/")[0]);
      return resolved;
    } });
    const all = ${JSON.stringify(all)};
    const adapter = await import("./src/adapters/${name}.ts");
    const imported = all.filter((sdk) => loaded.has(sdk));
    const { createHub } = await import("./src/index.ts");
    const hub = await createHub({ servers: {} }, { env: {} });
    await adapter["${adapters[name]?.tools}"](hub);
    await hub.close();
    console.log(JSON.stringify({ imported, used: all.filter((sdk) => loaded.has(sdk)) }));
  `;
  const { out, err } = await runNode(["--input-type=module", "-e", program]);
  if (out === "") throw new Error(err);
  return JSON.parse(out) as { imported: string[]; used: string[] };
}

/** The built package in an empty project that has only this SDK, in this version. */
function install(sdk?: { name: string; version: string }): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "plugboard-adapters-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }));
  const place = join(folder, "node_modules", "plugboard");
  mkdirSync(place, { recursive: true });
  cpSync("package.json", join(place, "package.json"));
  symlinkSync(resolve("dist"), join(place, "dist"));
  for (const name of ["zod", "jsonc-parser"])
    symlinkSync(resolve("node_modules", name), join(folder, "node_modules", name));
  if (sdk) {
    const home = join(folder, "node_modules", sdk.name);
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, "package.json"), JSON.stringify({ ...sdk, main: "index.js" }));
    writeFileSync(join(home, "index.js"), "");
  }
  return folder;
}

async function failure(name: string, tools: string, folder: string): Promise<unknown> {
  const program = `
    import { createHub } from "plugboard";
    import { ${tools} as tools } from "plugboard/${name}";
    const hub = await createHub({ servers: {} }, { env: {} });
    const { code, message, hint } = await tools(hub).then(() => ({}), (error) => error);
    console.log(JSON.stringify({ code, message, hint }));
    await hub.close();
  `;
  writeFileSync(join(folder, "program.mjs"), program);
  const flags = ["--preserve-symlinks", "--preserve-symlinks-main"];
  const { out, err } = await runNode([...flags, "program.mjs"], { cwd: folder });
  if (out === "") throw new Error(err);
  return JSON.parse(out) as unknown;
}

describe("M64 adapters", () => {
  it("are all known here", () => {
    expect(names.toSorted()).toEqual(Object.keys(adapters).toSorted());
  });

  it.each(names)("%s loads no SDK when it is imported, and only its own when it is used", async (name) => {
    const { imported, used } = await loadedBy(name);
    expect(imported).toEqual([]);
    expect(used.filter((sdk) => !adapters[name]?.loads.includes(sdk))).toEqual([]);
  });

  it.each(Object.entries(adapters))(
    "%s says what to install if its SDK is missing or of another major version",
    async (name, { tools, sdk, install: wanted, loads }) => {
      const hint = `Run \`npm install ${wanted}\`.`;
      const missing = { code: "sdk-unsupported", message: `${sdk} is not installed.`, hint };
      expect(await failure(name, tools, install())).toEqual(loads.length > 0 ? missing : {});
      expect(await failure(name, tools, install({ name: sdk, version: "99.0.0" }))).toEqual({
        code: "sdk-unsupported",
        message: `${sdk} 99.0.0 is installed, and this adapter needs ${wanted}.`,
        hint,
      });
    },
  );
});
