import { canonicalJson, sha256 } from "../lib/canonical.ts";
import type { ServerEntry } from "./model.ts";

/** Whether this user has said yes to exactly this content. */
export type TrustCheck = (fingerprint: string) => Promise<boolean>;

/** Nothing that a project brings is trusted: the safe answer where nobody can remember one. */
export const trustNothing: TrustCheck = async () => false;

/**
 * Names the exact content of a project's entry, unexpanded, in this project: any change of any field, another
 * name or another folder gives another fingerprint, and the question is asked again.
 */
export function fingerprint(
  entry: Pick<ServerEntry, "name" | "written" | "baseDir">,
  projectRoot: string,
): string {
  const { name, written, baseDir } = entry;
  return sha256(canonicalJson({ server: name, written, baseDir, projectRoot }));
}

/** The same for a project file's other top-level keys, taken together. */
export function settingsFingerprint(settings: unknown, file: string, projectRoot: string): string {
  return sha256(canonicalJson({ settings, file, projectRoot }));
}
