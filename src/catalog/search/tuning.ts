/** The numbers of the ranking, found by measuring (`bench/search.ts`); docs/tool-search.md says what each is for. */
export const tuning = {
  weights: { name: 2, title: 2, server: 1, description: 1, parameter: 0.5, parameterText: 0.3 },
  /** How soon further occurrences of a term stop counting, and how much long texts are held back. */
  saturation: 1.2,
  lengthPenalty: 0.6,
  related: 0.3,
};
