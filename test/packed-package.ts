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

/** Installs the published files in an empty folder, with only the declared dependencies. Needs a build, but no network. */
export function installPackage(): { folder: string; remove: () => void } {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "plugboard-package-")));
  const { version, dependencies } = JSON.parse(readFileSync("package.json", "utf8")) as {
    version: string;
    dependencies: Record<string, string>;
  };
  execFileSync("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], { stdio: "pipe" });
  const place = join(folder, "node_modules", "plugboard");
  mkdirSync(place, { recursive: true });
  const archive = join(folder, `plugboard-${version}.tgz`);
  execFileSync("tar", ["-xzf", archive, "-C", place, "--strip-components=1"]);
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  for (const name of [...Object.keys(dependencies), "@types/node"]) linkModule(folder, name);
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }) };
}

export function linkModule(folder: string, name: string): void {
  const place = join(folder, "node_modules", name);
  mkdirSync(dirname(place), { recursive: true });
  symlinkSync(resolve("node_modules", name), place);
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
