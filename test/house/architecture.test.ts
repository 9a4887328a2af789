import { execFileSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";

/** The ranks in ARCHITECTURE.md. A file may import from its own folder or from a lower rank. */
const ranks: [RegExp, number][] = [
  [/^src\/(errors|events)\.ts$|^src\/lib\//, 0],
  [/^src\/(config|store)\//, 1],
  [/^src\/(auth|interact)\//, 2],
  [/^src\/servers\//, 3],
  [/^src\/catalog\//, 4],
  [/^src\/calls\//, 5],
  [/^src\/(hub|workspace)\/|^src\/(index|config|host)\.ts$/, 6],
  [/^src\/(adapters|gateway|telemetry)\//, 7],
  [/^src\/cli\//, 8],
];

/** `plugboard`, `plugboard/config` and `plugboard/host`. */
const coreEntries = ["src/index.ts", "src/config.ts", "src/host.ts"];

const rankOf = (file: string) => ranks.find(([pattern]) => pattern.test(file))?.[1] ?? -1;
const folderOf = (file: string) => file.split("/").slice(0, 2).join("/");
const files = globSync("src/**/*.ts").map((file) => file.replaceAll("\\", "/"));

function importsOf(file: string): string[] {
  const text = readFileSync(file, "utf8").replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
  return [...text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map(([, path]) =>
    normalize(join(dirname(file), path ?? "")).replaceAll("\\", "/"),
  );
}

describe("the architecture", () => {
  it("assigns a rank to every file", () => {
    expect(files.filter((file) => rankOf(file) === -1)).toEqual([]);
  });

  it("forbids imports from an equal or higher rank of another folder", () => {
    const wrong = files.flatMap((file) =>
      importsOf(file)
        .filter((target) => target.startsWith("src/"))
        .filter(
          (target) =>
            rankOf(target) > rankOf(file) ||
            (rankOf(target) === rankOf(file) &&
              rankOf(file) !== 6 &&
              rankOf(file) !== 0 &&
              folderOf(target) !== folderOf(file)),
        )
        .map((target) => `${file} imports ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it("limits work with `startDeadline`, because `AbortSignal.timeout` outlives it", () => {
    const wrong = files.filter((file) => /\bAbortSignal\.timeout\(/.test(readFileSync(file, "utf8")));
    expect(wrong).toEqual([]);
  });

  it("lets the CLI and other outer layers use the core only through its public entries", () => {
    const wrong = files
      .filter((file) => rankOf(file) >= 7)
      .flatMap((file) =>
        importsOf(file)
          .filter(
            (target) => target.startsWith("src/") && rankOf(target) < 7 && !coreEntries.includes(target),
          )
          .filter((target) => !target.startsWith("src/lib/"))
          .map((target) => `${file} imports ${target}`),
      );
    expect(wrong).toEqual([]);
  });

  it.each(coreEntries)("keeps %s light: importing it loads no outer code and starts nothing", (entry) => {
    // Loading modules briefly creates handles of its own; handles that code opens on purpose stay.
    const script = `
      await import("./${entry}");
      await new Promise((resolve) => setImmediate(resolve));
      console.log(JSON.stringify(process.getActiveResourcesInfo().filter((name) => !name.includes("TTY") && !name.includes("Pipe"))));
    `;
    const loaded = execFileSync(process.execPath, ["--input-type=module", "-e", script], {
      encoding: "utf8",
    });
    expect(JSON.parse(loaded)).toEqual([]);
    const reachable = reach(entry);
    expect(reachable.filter((file) => rankOf(file) >= 7)).toEqual([]);
  });

  it("loads nothing heavy when the library is imported", () => {
    const heavy = [
      "@modelcontextprotocol/client",
      "undici",
      "yaml",
      "toml-eslint-parser",
      "@clack/prompts",
      "commander",
      "chokidar",
      "@opentelemetry/api",
    ];
    const loaded = coreEntries
      .flatMap((entry) => reach(entry))
      .flatMap((file) =>
        staticPackages(file)
          .filter((name) => heavy.includes(name))
          .map((name) => `${file} imports ${name}`),
      );
    expect(loaded).toEqual([]);
  });

  it("connects to servers without the SDK: only a login loads it", () => {
    const entries = ["open-session", "transports/http/transport", "transports/sse", "transports/memory"];
    const loaded = entries
      .flatMap((entry) => reach(`src/servers/${entry}.ts`))
      .filter((file) => staticPackages(file).includes("@modelcontextprotocol/client"));
    expect(loaded).toEqual([]);
  });
});

/** The files that a static import of `entry` loads, without `await import()` and types. */
function reach(entry: string, seen = new Set<string>()): string[] {
  if (seen.has(entry)) return [];
  seen.add(entry);
  for (const target of staticImports(entry)) reach(target, seen);
  return [...seen];
}

function statements(file: string): string[] {
  const text = readFileSync(file, "utf8");
  const all = text.match(/^(?:import|export)\b[^;]*?from\s*"[^"]+"|^import\s*"[^"]+"/gm) ?? [];
  return all.filter((statement) => !/^(import|export)\s+type\b/.test(statement) && !onlyTypes(statement));
}

function onlyTypes(statement: string): boolean {
  const names = /\{([^}]*)\}/
    .exec(statement)?.[1]
    ?.split(",")
    .map((name) => name.trim())
    .filter(Boolean);
  return names !== undefined && names.every((name) => name.startsWith("type "));
}

function staticImports(file: string): string[] {
  return statements(file)
    .map((statement) => /"(\.[^"]+)"$/.exec(statement)?.[1])
    .filter((path) => path !== undefined)
    .map((path) => normalize(join(dirname(file), path)).replaceAll("\\", "/"));
}

function staticPackages(file: string): string[] {
  return statements(file)
    .map((statement) => /"([^."][^"]*)"$/.exec(statement)?.[1] ?? "")
    .map((name) =>
      name.startsWith("@") ? name.split("/").slice(0, 2).join("/") : (name.split("/")[0] ?? ""),
    );
}
