/** The numbers of the ranking, found by measuring with `bench/search.ts`. docs/tool-search.md says what each is for. */
export const tuning = {
  /** How much one occurrence counts, by where it stands. */
  weights: { name: 2, server: 2, description: 1, parameter: 0.5, parameterText: 0.4 },
  /** A word that was split counts that much as a whole: `github` for `GitHub`. */
  whole: 0.5,
  /** How soon further occurrences of a term stop counting. */
  saturation: 1.1,
  /** How much long texts are held back. */
  lengthPenalty: 0.6,
  /** What a match of a related word is worth, in queries of up to `relatedTerms` terms; less in longer ones. */
  related: 0.6,
  relatedTerms: 8,
  /** What a match of a similarly written word is worth. */
  near: 0.4,
  /** How much is added when all of a tool's name, or of its server's name, is asked for. */
  nameCoverage: 0.5,
  serverCoverage: 0.2,
  /** How much of the best score at the same server is added. */
  siblings: 0.2,
};
