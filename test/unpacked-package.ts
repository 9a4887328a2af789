import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

interface Manifest {
  version: string;
  dependencies: Record<string, string>;
}

/** Unpacks Plugboard as it would be published into `node_modules` of a folder. Returns the path of `node_modules`. */
export function unpackPackage(folder: string): string {
  const modules = join(folder, "node_modules");
  const place = join(modules, "plugboard");
  mkdirSync(place, { recursive: true });
  execFileSync("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], { stdio: "pipe" });
  const archive = join(folder, `plugboard-${readManifest().version}.tgz`);
  execFileSync("tar", ["-xzf", archive, "-C", place, "--strip-components=1"]);
  return modules;
}

/** Installs Plugboard in an empty folder, with only the declared dependencies. */
export function installPackage(folder: string): void {
  unpackPackage(folder);
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  for (const name of Object.keys(readManifest().dependencies)) linkPackage(folder, name);
}

export function linkPackage(folder: string, name: string): void {
  const place = join(folder, "node_modules", name);
  mkdirSync(dirname(place), { recursive: true });
  symlinkSync(resolve("node_modules", name), place);
}

function readManifest(): Manifest {
  return JSON.parse(readFileSync("package.json", "utf8")) as Manifest;
}
