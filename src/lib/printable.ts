/**
 * Makes text from files and servers safe for a terminal: control characters, escape sequences, bidi overrides,
 * zero-width and tag characters become visible `\u{…}` escapes. Newlines and tabs stay unless `oneLine` is set.
 */
export function printable(text: string, options: { oneLine?: boolean } = {}): string {
  const isHarmless = options.oneLine ? /^[\x20-\x7e]*$/ : /^[\t\n\x20-\x7e]*$/;
  if (isHarmless.test(text)) return text;
  return escapeDangerous(text, (character) => {
    if (character === "\n") return options.oneLine ? "\\n" : character;
    if (character === "\t") return options.oneLine ? "\\t" : character;
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}

/** JSON text that means the same and is safe for a terminal: the characters above become `\uXXXX`. */
export function printableJson(json: string): string {
  if (/^[\n\x20-\x7e]*$/.test(json)) return json;
  return escapeDangerous(json, (character) => {
    if (character === "\n") return character;
    const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
  });
}

function escapeDangerous(text: string, escape: (character: string) => string): string {
  const characters = Array.from(text);
  return characters
    .map((character, index) =>
      !isDangerous(character.codePointAt(0) ?? 0) ||
      joinsEmoji(character, characters[index - 1], characters[index + 1])
        ? character
        : escape(character),
    )
    .join("");
}

const dangerousRanges: readonly (readonly [number, number])[] = [
  [0x00, 0x1f], // C0 controls
  [0x7f, 0x9f], // DEL and C1 controls
  [0xad, 0xad], // soft hyphen
  [0x61c, 0x61c], // Arabic letter mark
  [0x200b, 0x200f], // zero width and direction marks
  [0x2028, 0x202e], // separators, bidi embeddings and overrides
  [0x2060, 0x206f], // invisible operators, bidi isolates
  [0xd800, 0xdfff], // lone surrogates
  [0xfe00, 0xfe0f], // variation selectors
  [0xfeff, 0xfeff], // byte order mark
  [0xfff9, 0xfffb], // interlinear annotation
  [0xe0000, 0xe0fff], // tags and variation selectors supplement
];

function isDangerous(codePoint: number): boolean {
  return dangerousRanges.some(([first, last]) => codePoint >= first && codePoint <= last);
}

/** A single joiner or emoji selector next to an emoji is part of that emoji, not hidden text. */
function joinsEmoji(character: string, before: string | undefined, after: string | undefined): boolean {
  const isEmoji = (neighbour: string | undefined) =>
    neighbour !== undefined && /\p{Extended_Pictographic}/u.test(neighbour);
  if (character === "\u{fe0f}") return isEmoji(before);
  if (character === "\u{200d}") return (isEmoji(before) || before === "\u{fe0f}") && isEmoji(after);
  return false;
}
