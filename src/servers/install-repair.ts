import type { Environment } from "../lib/folders.ts";
import { matchesAny } from "../lib/glob.ts";
import { isNpxFolder, npmCache, npxFolder, npxPackages } from "../lib/npx/folder.ts";
import { repairNpxFolder } from "../lib/npx/repair.ts";
import type { StdioTarget, Target } from "./target.ts";

/**
 * Repairs what a killed install left where `npx` will look for this server, if anything did. Other launchers move what
 * they install into place as a whole.
 */
export async function installRepair(
  target: Target,
  { env, home }: { env: Environment; home: string },
): Promise<(() => Promise<void>) | undefined> {
  if (target.kind !== "stdio" || target.launcher?.ecosystem !== "npm") return undefined;
  const { program, rest } = target.launcher;
  if (program !== "npx" && program !== "npm") return undefined;
  const read = npxPackages(rest);
  if ("problem" in read) return undefined;
  const seen = environmentOf(target, env);
  const ownHome = seen["HOME"] ?? home;
  const cache = await npmCache({ folder: target.program.cwd ?? home, home: ownHome, env: seen });
  if (cache === undefined) return undefined;
  const folder = npxFolder(cache, read.packages);
  return async () => {
    if (await isNpxFolder(folder, cache))
      // What cannot be repaired does not keep the launcher from trying.
      await repairNpxFolder(folder, [...read.packages, read.command]).catch(() => undefined);
  };
}

function environmentOf({ program }: StdioTarget, env: Environment): Environment {
  const { inheritEnv = [], env: own } = program;
  const passed = Object.entries(env).filter(
    ([name]) => matchesAny(inheritEnv, name) || name === "LOCALAPPDATA",
  );
  return { ...Object.fromEntries(passed), HOME: env["HOME"], ...own };
}
