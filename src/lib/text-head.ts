const ending = " …";
/** A character that people see can be several of Unicode's, but not so many in any writing. */
const longestCharacter = 64;

/** The beginning of a text, marked if it is not the whole. Never ends in the middle of what people see as one character. */
export function headOf(text: string, most: number): string {
  if (text.length <= most) return text;
  if (most <= ending.length) return "";
  return `${text.slice(0, boundaryBefore(text, most - ending.length))}${ending}`;
}

/** The last place between two characters that is not behind `at`. */
function boundaryBefore(text: string, at: number): number {
  const around = text.slice(0, at + longestCharacter);
  const index = new Intl.Segmenter().segment(around).containing(at)?.index ?? at;
  // What has no end within reach is not a character of any writing.
  return at - index < longestCharacter ? index : wholeCodePoint(text, at);
}

/** Not between the two halves of a surrogate pair. */
function wholeCodePoint(text: string, at: number): number {
  const isSplit = /[\udc00-\udfff]/.test(text[at] ?? "") && /[\ud800-\udbff]/.test(text[at - 1] ?? "");
  return isSplit ? at - 1 : at;
}
