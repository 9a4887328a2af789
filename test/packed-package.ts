import { execFileSync } from "node:child_process";
import {
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
import { runNode } from "./run-command.ts";

/** Unpacks the published files into `node_modules` of a folder, and returns its path. Needs a build, but no network. */
export function unpackPackage(folder: string): string {
  const modules = join(folder, "node_modules");
  const place = join(modules, "plugboard");
  mkdirSync(place, { recursive: true });
  execFileSync("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], { stdio: "pipe" });
  const archive = join(folder, `plugboard-${readManifest().version}.tgz`);
  execFileSync("tar", ["-xzf", archive, "-C", place, "--strip-components=1"]);
  return modules;
}

/** Installs the published files in an empty folder, with only the declared dependencies and Node.js's types. */
export function installPackage(nodeTypes = "@types/node"): { folder: string; remove: () => void } {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "plugboard-package-")));
  const { dependencies } = readManifest();
  unpackPackage(folder);
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  for (const name of Object.keys(dependencies)) linkModule(folder, name);
  linkModule(folder, "@types/node", nodeTypes);
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }) };
}

function readManifest(): { version: string; dependencies: Record<string, string> } {
  return JSON.parse(readFileSync("package.json", "utf8")) as ReturnType<typeof readManifest>;
}

export function linkModule(folder: string, name: string, installed = name): void {
  const place = join(folder, "node_modules", name);
  mkdirSync(dirname(place), { recursive: true });
  symlinkSync(resolve("node_modules", installed), place);
}

interface CompileOptions {
  /** The name of the package in node_modules. */
  compiler?: string;
  /** Leave mistakes in declarations to their authors. */
  skipLibCheck?: boolean;
}

/** Type-checks programs as strictly as a user may. */
export async function compile(
  folder: string,
  files: readonly string[],
  { compiler = "typescript", skipLibCheck = false }: CompileOptions = {},
) {
  const flags = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2022", "--types", "node"];
  // What the oldest compiler knows.
  const lib = ["--lib", "es2023,esnext.disposable", ...(skipLibCheck ? ["--skipLibCheck"] : [])];
  const tsc = resolve("node_modules", compiler, "bin/tsc");
  return runNode([tsc, ...flags, ...lib, ...files], { cwd: folder });
}
