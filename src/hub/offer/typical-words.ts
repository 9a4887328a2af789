/** Words that say nothing about what a server is for. */
const generic = new Set(
  "get list set add create update delete remove search find read write fetch query run execute by all to from for of in the and a an with id new".split(
    " ",
  ),
);

/** The words that most of a server's tools have in their names, for servers that say nothing about themselves. */
export function typicalWords(names: Iterable<string>, most: number): string[] {
  const counts = new Map<string, number>();
  for (const name of names) {
    const words = name
      .slice(0, 100)
      .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
      .toLowerCase()
      .split(/[^a-z]+/);
    for (const word of new Set(words))
      if (word.length > 2 && !generic.has(word)) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return [...counts]
    .sort(([one, ones], [other, others]) => others - ones || (one < other ? -1 : 1))
    .slice(0, most)
    .map(([word]) => word);
}
