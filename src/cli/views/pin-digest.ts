import type { PinReport } from "../../host.ts";
import { canonicalJson, sha256 } from "../../lib/canonical.ts";

/**
 * Names what is approved: the changes of each server as they are shown, and the definitions that are pinned with them.
 * Undefined if there is nothing to approve.
 */
export function pinDigest(
  reports: readonly PinReport[],
  stray: readonly { server: string }[] = [],
): string | undefined {
  const open = reports.filter(isOpen).toSorted((one, other) => (one.server < other.server ? -1 : 1));
  if (open.length + stray.length === 0) return undefined;
  const approved = open.map(({ server, changes, surface }) => [
    server,
    changes,
    pinnedWith(changes, surface),
  ]);
  return `sha256-${sha256(canonicalJson([approved, stray.map(({ server }) => server).sort()]))}`;
}

/** True if a person can approve what a report shows. */
export function isOpen({ state, file, surface }: PinReport): boolean {
  return state !== "same" && state !== "failed" && file !== undefined && surface !== undefined;
}

function pinnedWith(changes: PinReport["changes"], surface: PinReport["surface"]): unknown[] {
  const hashes = changes.map(({ kind, name }) => {
    if (kind === "package") return null;
    return (kind === "instructions" ? surface?.instructions : surface?.[kind].get(name))?.hash ?? null;
  });
  return [hashes, surface?.package ?? null];
}
