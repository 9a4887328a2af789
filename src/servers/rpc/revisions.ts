/** The revision of the modern era: stateless, `server/discover`, an envelope around every request. */
export const modernRevision = "2026-07-28";

/** The revisions of the legacy era, newest first; the first one is offered in `initialize`. */
export const legacyRevisions = [
  "2025-11-25",
  "2025-06-18",
  "2025-03-26",
  "2024-11-05",
  "2024-10-07",
] as const;

/** Revisions are dates, so later ones that we do not know yet are modern too. */
export function isModernRevision(revision: string | undefined): boolean {
  return revision !== undefined && revision >= modernRevision;
}
