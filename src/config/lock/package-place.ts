import type { Environment } from "../../lib/folders.ts";
import type { PinnedPackage } from "./pins.ts";

export interface PackagePlace {
  /** What follows the launcher on its command line. */
  args: readonly string[];
  /** Where it runs. */
  folder: string;
  home: string;
  /** Variables that the launcher sees. */
  env: Environment;
}

export function unknownPackage(
  manager: PinnedPackage["manager"],
  name: string,
  note: string,
  version = "unknown",
): PinnedPackage {
  return { manager, name, version, integrity: "unknown", note };
}
