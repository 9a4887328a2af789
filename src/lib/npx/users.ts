import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { programName } from "../package-launcher.ts";
import { openFiles, processIds, processWords } from "../proc.ts";

/**
 * The processes that use a folder of `npx`: they have a file of it open, run from it, or are an npm that installs one of
 * these packages. Undefined where that cannot be seen.
 */
export async function npxUsers(folder: string, packages: readonly string[]): Promise<number[] | undefined> {
  const ids = await processIds();
  if (ids.length === 0) return undefined;
  const uses = await Promise.all(
    ids.map(async (pid) => {
      if (pid === process.pid) return false;
      const words = await processWords(pid);
      if (words.some((word) => word.includes(folder))) return true;
      const files = await openFiles(pid);
      if (files.some((path) => path === folder || path.startsWith(`${folder}/`))) return true;
      return isNpm(words) && words.some((word) => packages.includes(word)) && !hasOtherCache(files, folder);
    }),
  );
  return ids.filter((_, index) => uses[index]);
}

/** npm writes a log into its cache as long as it runs. */
function hasOtherCache(files: readonly string[], folder: string): boolean {
  const caches = files.flatMap((file) => /^(.*)\/_logs\/[^/]+$/.exec(file)?.[1] ?? []);
  const own = dirname(dirname(folder));
  return caches.some((cache) => cache !== own && existsSync(join(cache, "_cacache")));
}

/** npm calls itself `npm exec …` soon after its start. */
function isNpm(words: readonly string[]): boolean {
  return words.slice(0, 3).some((word) => /^(?:npm|npx)(?:-cli\.js)?$/.test(programName(word)));
}
