/** Gives a heading its anchor, as Markdown viewers do: of equal headings, the second gets `-1`. Begins with those of a text. */
export function anchorsOf(text: string): (heading: string) => string {
  const counts = new Map<string, number>();
  const anchorOf = (heading: string) => {
    const slug = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-");
    const count = counts.get(slug) ?? 0;
    counts.set(slug, count + 1);
    return count === 0 ? `#${slug}` : `#${slug}-${count}`;
  };
  const prose = text.replaceAll(/^```.*?^```/gms, "");
  for (const [, heading = ""] of prose.matchAll(/^#+ (.*)$/gm)) anchorOf(heading);
  return anchorOf;
}
