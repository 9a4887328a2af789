import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

interface Manifest {
  name: string;
  version: string;
  license?: string;
  homepage?: string;
  repository?: string | { url?: string };
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
export function licenceNotices(modules: readonly string[]): string {
  const intro = "The command line contains parts of these packages, under their own licences.\n";
  return [intro, ...packageFolders(modules).map(noticeOf)].join(`\n${"-".repeat(80)}\n\n`);
}

function noticeOf(folder: string): string {
  const { name, version, license, homepage, repository } = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8"),
  ) as Manifest;
  const source = homepage ?? (typeof repository === "string" ? repository : repository?.url);
  const files = globSync("{LICEN[SC]E,licen[sc]e,Licen[sc]e,NOTICE,COPYING}*", { cwd: folder }).toSorted();
  const texts = files.map((file) => readFileSync(join(folder, file), "utf8").trim());
  if (license === undefined || texts.length === 0)
    throw new Error(
      `${name} is bundled, but it has no ${license === undefined ? "licence" : "licence file"}.`,
    );
  return [`${name} ${version} (${license})`, ...(source ? [source] : []), "", ...texts, ""].join("\n");
}
