/** Terms that mean nearly the same as a term. */
export function relatedTo(_term: string): readonly string[] {
  return [];
}
