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

export type HiddenKind =
  | "control"
  | "zero-width"
  | "bidirectional"
  | "separator"
  | "surrogate"
  | "variation selector"
  | "tag";

const dangerousRanges: readonly (readonly [first: number, last: number, kind: HiddenKind])[] = [
  [0x00, 0x1f, "control"],
  [0x7f, 0x9f, "control"],
  // The soft hyphen.
  [0xad, 0xad, "zero-width"],
  [0x61c, 0x61c, "bidirectional"],
  [0x200b, 0x200d, "zero-width"],
  [0x200e, 0x200f, "bidirectional"],
  [0x2028, 0x2029, "separator"],
  [0x202a, 0x202e, "bidirectional"],
  // Invisible operators.
  [0x2060, 0x2065, "zero-width"],
  [0x2066, 0x2069, "bidirectional"],
  [0x206a, 0x206f, "zero-width"],
  [0xd800, 0xdfff, "surrogate"],
  [0xfe00, 0xfe0f, "variation selector"],
  // The byte order mark.
  [0xfeff, 0xfeff, "zero-width"],
  // Interlinear annotation.
  [0xfff9, 0xfffb, "zero-width"],
  [0xe0000, 0xe00ff, "tag"],
  [0xe0100, 0xe01ef, "variation selector"],
  [0xe01f0, 0xe0fff, "tag"],
];

function isDangerous(codePoint: number): boolean {
  return kindOf(codePoint) !== undefined;
}

function kindOf(codePoint: number): HiddenKind | undefined {
  return dangerousRanges.find(([first, last]) => codePoint >= first && codePoint <= last)?.[2];
}

/** The characters that `printable` would escape in a text of several lines, counted by kind. */
export function hiddenCharacters(text: string): Map<HiddenKind, number> {
  const counts = new Map<HiddenKind, number>();
  if (/^[\t\n\r\x20-\x7e]*$/.test(text)) return counts;
  const characters = Array.from(text);
  for (const [index, character] of characters.entries()) {
    const kind = /[\t\n\r]/.test(character) ? undefined : kindOf(character.codePointAt(0) ?? 0);
    if (kind === undefined || joinsEmoji(character, characters[index - 1], characters[index + 1])) continue;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

/** A single joiner or emoji selector next to an emoji is part of that emoji, not hidden text. */
function joinsEmoji(character: string, before: string | undefined, after: string | undefined): boolean {
  const isEmoji = (neighbour: string | undefined) =>
    neighbour !== undefined && /\p{Extended_Pictographic}/u.test(neighbour);
  if (character === "\u{fe0f}") return isEmoji(before);
  if (character === "\u{200d}") return (isEmoji(before) || before === "\u{fe0f}") && isEmoji(after);
  return false;
}
