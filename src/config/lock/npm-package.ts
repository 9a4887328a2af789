import { existsSync, realpathSync } from "node:fs";
import { delimiter, dirname, join, relative, resolve } from "node:path";
import { readBoundedFile } from "../../lib/bounded-file.ts";
import { foldersUp, npmrcSets } from "../../lib/npmrc.ts";
import { npxFolder, npxPackages } from "../../lib/npx/folder.ts";
import { isRecord, own } from "../../lib/record.ts";
import { unknownPackage } from "./package-place.ts";
import type { PackagePlace } from "./package-place.ts";
import type { PinnedPackage } from "./pins.ts";

const maxBytes = 16_000_000;

/**
 * What `npx` runs, in npm's own order: a program installed in the folder or above it, a package installed there, then
 * its cache. Where that does not decide it, the answer is unknown; a guess would look like a fact.
 */
export async function npmPackage(place: PackagePlace): Promise<PinnedPackage> {
  const read = npxPackages(place.args);
  if ("problem" in read) return unknownPackage("npm", "unknown", read.problem);
  const { packages, isCommand } = read;
  const [first = ""] = packages;
  const spec = parseSpec(first);
  if (packages.length > 1 || !spec) {
    const note = spec ? "it runs with several packages" : "it does not come from the package registry";
    return unknownPackage("npm", packages.join(" "), note);
  }
  const { name, wanted } = spec;
  const exact = /^\d+\.\d+\.\d+[\w.+-]*$/.test(wanted) ? wanted : undefined;
  if (isCommand && (await isOwnProgram(first, place.folder)))
    return unknownPackage("npm", name, "the folder's own package has a program of that name");
  const local = isCommand ? await localProgram(first, place.folder) : undefined;
  const found = local ?? (await localPackage(name, place.folder));
  if (found && (local || wanted === "" || found.version === exact)) return found;
  const doubt = found
    ? "a version of it is installed in the folder, and it is not certain whether that one runs"
    : isGlobal(name, first, place)
      ? "it is also installed globally, and it is not certain which one runs"
      : await otherCache(place);
  if (doubt !== undefined) return unknownPackage("npm", name, doubt, exact);
  const cached = await cachedPackage(packages, name, place);
  if (cached && (exact === undefined || cached.version === exact)) return cached;
  return unknownPackage("npm", name, "npm's cache does not have it", exact);
}

/** `name`, `name@version` or `@scope/name@version`; undefined for paths, URLs and aliases. */
function parseSpec(spec: string): { name: string; wanted: string } | undefined {
  const [, name, wanted = ""] = /^((?:@[\w.~-]+\/)?[\w~-][\w.~-]*)(?:@([^:/@]*))?$/.exec(spec) ?? [];
  return name === undefined ? undefined : { name, wanted };
}

/** A package runs its own programs from its folder. */
async function isOwnProgram(word: string, folder: string): Promise<boolean> {
  const { name, bin } = await readJson(join(folder, "package.json"));
  return typeof bin === "string" ? name === word : isRecord(bin) && Object.hasOwn(bin, word);
}

async function localProgram(word: string, folder: string): Promise<PinnedPackage | undefined> {
  for (const above of foldersUp(folder)) {
    const program = join(above, "node_modules", ".bin", word);
    if (!existsSync(program)) continue;
    const owner = foldersUp(dirname(realpathSync(program))).find((one) =>
      existsSync(join(one, "package.json")),
    );
    const found = owner === undefined ? undefined : await installed(owner, above);
    return found ?? unknownPackage("npm", word, "a program of that name is installed in the folder");
  }
  return undefined;
}

async function localPackage(name: string, folder: string): Promise<PinnedPackage | undefined> {
  const root = foldersUp(folder).find(
    (one) => existsSync(join(one, "package.json")) || existsSync(join(one, "node_modules")),
  );
  const path = root === undefined ? undefined : join(root, "node_modules", name);
  return root !== undefined && path !== undefined && existsSync(path) ? installed(path, root) : undefined;
}

/** A package folder below `root`, with the integrity that npm recorded when it installed it. */
async function installed(path: string, root: string): Promise<PinnedPackage | undefined> {
  const { name, version } = await readJson(join(path, "package.json"));
  if (typeof name !== "string" || typeof version !== "string") return undefined;
  const record = await recorded(root, relative(root, path));
  const integrity = record?.["version"] === version ? record["integrity"] : undefined;
  if (typeof integrity === "string") return { manager: "npm", name, version, integrity };
  const note = "npm recorded no integrity for it";
  return { manager: "npm", name, version, integrity: "unknown", note };
}

/** Where `npx` installs: a folder of its cache that is named after the words of the command line. */
async function cachedPackage(
  packages: readonly string[],
  name: string,
  { home, env }: PackagePlace,
): Promise<PinnedPackage | undefined> {
  const root = npxFolder(env["npm_config_cache"] ?? join(home, ".npm"), packages);
  const path = join(root, "node_modules", name);
  return existsSync(path) ? installed(path, root) : undefined;
}

async function otherCache({ folder, home, env }: PackagePlace): Promise<string | undefined> {
  if (env["npm_config_cache"] !== undefined) return undefined;
  return (await npmrcSets(/cache|prefix/, { folder, home })) ? "an .npmrc moves npm's folders" : undefined;
}

function isGlobal(name: string, word: string, { env }: PackagePlace): boolean {
  const folders = (env["PATH"] ?? "").split(delimiter).filter((one) => existsSync(join(one, "npx")));
  return folders.slice(0, 1).some((bin) => {
    const isProgram = !word.includes("/") && existsSync(join(bin, word));
    return isProgram || existsSync(resolve(bin, "..", "lib", "node_modules", name));
  });
}

/** The entry of npm's hidden lock file. */
async function recorded(root: string, path: string): Promise<Record<string, unknown> | undefined> {
  const { packages } = await readJson(join(root, "node_modules", ".package-lock.json"));
  const entry = isRecord(packages) ? own(packages, path.replaceAll("\\", "/")) : undefined;
  return isRecord(entry) ? entry : undefined;
}

async function readJson(file: string): Promise<Record<string, unknown>> {
  const read = await readBoundedFile(file, maxBytes);
  if (read.kind !== "text") return {};
  try {
    const value: unknown = JSON.parse(read.text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
