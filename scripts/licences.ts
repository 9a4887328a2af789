import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

interface Manifest {
  name: string;
  version: string;
  license?: string;
  homepage?: string;
  repository?: string | { url?: string } | undefined;
}

/** The folders of the packages that these modules belong to. The bundler's own helpers come from the bundler. */
export function packageFolders(modules: readonly string[]): string[] {
  const folders = modules.map((path) =>
    /^\0(?:rolldown|@oxc-project)\b/.test(path)
      ? resolve("node_modules/rolldown")
      : (/^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? ""),
  );
  return [...new Set(folders.filter(Boolean))].toSorted((a, b) => (packageName(a) < packageName(b) ? -1 : 1));
}

export function packageName(folder: string): string {
  return folder.slice(folder.lastIndexOf("node_modules/") + "node_modules/".length);
}

/** The notices that the licences of bundled packages ask for. Fails for a package without a licence. */
export function licenceNotices(what: string, modules: readonly string[]): string {
  const intro = `${what} contains parts of these packages, under their own licences.\n`;
  const folders = packageFolders(modules);
  const notices = folders.map((folder) => noticeOf(folder, folders));
  return [intro, ...notices].join(`\n${"-".repeat(80)}\n\n`);
}

function noticeOf(folder: string, folders: readonly string[]): string {
  const { name, version, license, homepage, repository } = manifestOf(folder);
  const source = homepage ?? repositoryOf({ repository });
  const texts = licenceTexts(folder, folders);
  if (license === undefined || texts.length === 0)
    throw new Error(
      `${name} is bundled, but it has no ${license === undefined ? "licence" : "licence file"}.`,
    );
  return [`${name} ${version} (${license})`, ...(source ? [source] : []), "", ...texts, ""].join("\n");
}

/** A package without a text of its own has that of another one from the same repository, under the same licence. */
function licenceTexts(folder: string, folders: readonly string[]): string[] {
  const own = textsIn(folder);
  const manifest = manifestOf(folder);
  const repository = repositoryOf(manifest);
  if (own.length > 0 || repository === undefined) return own;
  const sibling = folders.find((other) => {
    const { license, ...rest } = manifestOf(other);
    return license === manifest.license && repositoryOf(rest) === repository && textsIn(other).length > 0;
  });
  return sibling === undefined ? [] : textsIn(sibling);
}

function textsIn(folder: string): string[] {
  const files = globSync("{LICEN[SC]E,licen[sc]e,Licen[sc]e,NOTICE,COPYING}*", { cwd: folder }).toSorted();
  return files.map((file) => readFileSync(join(folder, file), "utf8").trim());
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

function repositoryOf({ repository }: Pick<Manifest, "repository">): string | undefined {
  return typeof repository === "string" ? repository : repository?.url;
}
