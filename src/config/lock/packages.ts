import { basename } from "node:path";
import type { Environment } from "../../lib/folders.ts";
import { workingFolder } from "../places.ts";
import type { ServerEntry } from "../model.ts";
import { npmPackage } from "./npm-package.ts";
import { unknownPackage } from "./package-place.ts";
import type { PinnedPackage } from "./pins.ts";
import { uvPackage } from "./uv-package.ts";

/** The package that `npx` or `uvx` runs for a server, as installed now; undefined for other programs. Nothing is run or fetched. */
export async function packageOf(
  entry: ServerEntry,
  { env, home }: { env: Environment; home: string },
): Promise<PinnedPackage | undefined> {
  const { command = "", args = [], env: own = {}, cwd } = entry.config ?? {};
  const program = basename(command).replace(/\.(?:cmd|exe)$/i, "");
  const manager = program === "npx" ? "npm" : program === "uvx" ? "pypi" : undefined;
  if (!manager) return undefined;
  if ([...args, cwd ?? ""].some((word) => word.includes("${")))
    return unknownPackage(manager, "unknown", "its command line contains variables");
  const ownHome = own["HOME"] ?? home;
  if (ownHome.includes("${")) return unknownPackage(manager, "unknown", "its HOME contains variables");
  const place = {
    args,
    folder: cwd ?? workingFolder(entry),
    home: ownHome,
    env: { PATH: env["PATH"], ...own },
  };
  return manager === "npm" ? npmPackage(place) : uvPackage(place);
}
