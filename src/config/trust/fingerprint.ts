import { canonicalJson, sha256 } from "../../lib/canonical.ts";
import type { ServerEntry } from "../model.ts";
import type { ScriptHashes } from "./judge.ts";

/** The contents that this user has trusted under a fingerprint, latest first: the hashes of the scripts of each. */
export type TrustedContents = (fingerprint: string) => Promise<readonly ScriptHashes[]>;

/** Trusts nothing from a project: the safe default when no trust decisions are stored. */
export const trustNothing: TrustedContents = async () => [];

/**
 * Identifies the exact, unexpanded content of an entry in this project. Changing any field, the name or the folder
 * changes the fingerprint, so the user is asked again.
 */
export function fingerprint(
  entry: Pick<ServerEntry, "name" | "written" | "baseDir">,
  projectRoot: string,
): string {
  const { name, written, baseDir } = entry;
  return sha256(canonicalJson({ server: name, written, baseDir, projectRoot }));
}

/** The same for all other top-level keys of a project file together. */
export function settingsFingerprint(settings: unknown, file: string, projectRoot: string): string {
  return sha256(canonicalJson({ settings, file, projectRoot }));
}
