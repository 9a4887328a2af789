import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import type { ServerReport } from "../../src/index.ts";
import { runNode } from "../../test/run-command.ts";
import type { CommandRun } from "../../test/run-command.ts";
import { commandOf } from "./servers.ts";
import type { Candidate } from "./servers.ts";

const run = promisify(execFile);
export const main = join(import.meta.dirname, "..", "..", "dist", "cli", "main.js");

/** A folder with an empty home, a git repository to work in, and npm's cache. */
export interface Bench {
  root: string;
  /** The repository that servers get to see. */
  folder: string;
  env: Record<string, string>;
  /** A new home, and nothing installed; what npm downloaded before is kept. */
  clear(): Promise<void>;
  plugboard(...args: string[]): Promise<CommandRun>;
  json<T>(...args: string[]): Promise<T>;
}

export async function createBench(keptCache?: string): Promise<Bench & AsyncDisposable> {
  if (!existsSync(main)) throw new Error("The command line is not built. Run: npm run build");
  const root = await realpath(await mkdtemp(join(tmpdir(), "plugboard-compatibility-")));
  const [home, folder] = [join(root, "home"), join(root, "work")];
  const cache = keptCache === undefined ? join(root, "npm") : resolve(keptCache);
  await mkdir(join(folder, ".obsidian"), { recursive: true });
  await writeFile(join(folder, "hello.js"), 'console.log("hello");\n');
  await writeFile(join(folder, "eslint.config.mjs"), "export default [{ rules: { semi: 2 } }];\n");
  await run("git", ["init", "--quiet", folder]);
  const env = {
    ...networkSettings(),
    HOME: home,
    PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`,
    npm_config_cache: cache,
    npm_config_ignore_scripts: "true",
  };
  const plugboard = (...args: string[]) => runNode([main, ...args], { cwd: folder, env });
  return {
    root,
    folder,
    env,
    plugboard,
    async clear() {
      for (const place of [home, join(cache, "_npx")]) await remove(place);
      await mkdir(home);
    },
    async json<T>(...args: string[]) {
      return JSON.parse((await plugboard(...args, "--json")).out) as T;
    },
    [Symbol.asyncDispose]: () => remove(root),
  };
}

function remove(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true, maxRetries: 20 });
}

/** What npm needs to reach its registry on this machine. */
function networkSettings(): Record<string, string> {
  const pairs = Object.entries(process.env);
  return Object.fromEntries(
    pairs.flatMap(([name, value]) =>
      /^(?:NODE_EXTRA_CA_CERTS|\w+_proxy|npm_config_registry)$/i.test(name) && value ? [[name, value]] : [],
    ),
  );
}

export async function addServer(bench: Bench, candidate: Candidate): Promise<void> {
  const pairs = Object.entries(candidate.env ?? {}).flatMap(([key, value]) => ["-e", `${key}=${value}`]);
  const command = commandOf(candidate, bench.folder);
  const added = await bench.plugboard("add", candidate.name, ...pairs, "--", ...command);
  if (added.code !== 0) throw new Error(added.err);
}

export async function statusOf(bench: Bench, name: string): Promise<Partial<ServerReport>> {
  const { servers } = await bench.json<{ servers: ServerReport[] }>("status", name);
  return servers[0] ?? {};
}
