/** What text is for, which decides what may stay in it. */
export interface PrintableOptions {
  /** Newlines and tabs are escaped too. */
  oneLine?: boolean;
  /** Like `oneLine`; in addition nothing stays that makes another name look the same: odd spaces, parts of emoji. */
  isName?: boolean;
}

/**
 * Makes text from files and servers safe for a terminal: control characters, escape sequences, bidi overrides,
 * invisible characters and floods of combining marks become visible `\u{…}` escapes. Newlines and tabs stay unless
 * `oneLine` or `isName` is set.
 */
export function printable(text: string, { oneLine = false, isName = false }: PrintableOptions = {}): string {
  const isOneLine = oneLine || isName;
  const isHarmless = isOneLine ? /^[\x20-\x7e]*$/ : /^[\t\n\x20-\x7e]*$/;
  if (isHarmless.test(text)) return text;
  return escapeDangerous(text, isName, (character) => {
    if (character === "\n") return isOneLine ? "\\n" : character;
    if (character === "\t") return isOneLine ? "\\t" : character;
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}

/** JSON text that means the same and is safe for a terminal: the characters above become `\uXXXX`. */
export function printableJson(json: string): string {
  if (/^[\n\x20-\x7e]*$/.test(json)) return json;
  return escapeDangerous(json, false, (character) => {
    if (character === "\n") return character;
    const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
  });
}

function escapeDangerous(text: string, isName: boolean, escape: (character: string) => string): string {
  return text.replace(isName ? dangerousInNames : dangerous, (character, at: number) =>
    !isName && joinsEmoji(character, text, at) ? character : escape(character),
  );
}

/** A mark that is stacked on six others: no language needs that, and it is drawn over the lines around it. */
const stackedMark = String.raw`[\p{Mn}\p{Me}](?<=[\p{Mn}\p{Me}]{7})`;
const invisible = String.raw`\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}`;
const dangerous = new RegExp(`[${invisible}]|${stackedMark}`, "gu");
/** In a name, whatever looks like a space is none. Braille art needs its empty cell, U+2800, in texts. */
const dangerousInNames = new RegExp(
  String.raw`[${invisible}\u{a0}\u{1680}\u{2000}-\u{200a}\u{202f}\u{205f}\u{2800}\u{3000}]|${stackedMark}`,
  "gu",
);

export type HiddenKind =
  | "control"
  | "zero-width"
  | "bidirectional"
  | "separator"
  | "surrogate"
  | "variation selector"
  | "tag"
  | "blank"
  | "format"
  | "stacked mark";

/** The first that fits is the kind of a character that is escaped. */
const kinds: readonly (readonly [HiddenKind, RegExp])[] = [
  ["control", /\p{Cc}/u],
  ["surrogate", /\p{Cs}/u],
  ["separator", /[\p{Zl}\p{Zp}]/u],
  ["bidirectional", /[\u{61c}\u{200e}\u{200f}\u{202a}-\u{202e}\u{2066}-\u{2069}]/u],
  // oxlint-disable-next-line no-misleading-character-class
  ["variation selector", /[\u{180b}-\u{180d}\u{180f}\u{fe00}-\u{fe0f}\u{e0100}-\u{e01ef}]/u],
  ["tag", /[\u{e0000}-\u{e0fff}]/u],
  // Fillers of Hangul, and spaces.
  ["blank", /[\u{115f}\u{1160}\u{3164}\u{ffa0}\u{2800}\p{Zs}]/u],
  ["zero-width", /\p{Default_Ignorable_Code_Point}/u],
  ["format", /\p{Cf}/u],
];

/** True for text that looks like another one because something in it shows nothing. The selector of an emoji is fine. */
export function hasInvisible(text: string): boolean {
  if (/^[\x20-\x7e]*$/.test(text)) return false;
  const found = text.matchAll(dangerous);
  return found.some(({ 0: one, index }) => one !== "\u{fe0f}" || !joinsEmoji(one, text, index));
}

function kindOf(character: string): HiddenKind {
  return kinds.find(([, pattern]) => pattern.test(character))?.[0] ?? "stacked mark";
}

/** The characters that `printable` would escape in a text of several lines, or in a name, counted by kind. */
export function hiddenCharacters(
  text: string,
  { isName = false }: Pick<PrintableOptions, "isName"> = {},
): Map<HiddenKind, number> {
  const counts = new Map<HiddenKind, number>();
  if (/^[\t\n\r\x20-\x7e]*$/.test(text)) return counts;
  for (const { 0: character, index } of text.matchAll(isName ? dangerousInNames : dangerous)) {
    if (/[\t\n\r]/.test(character) || (!isName && joinsEmoji(character, text, index))) continue;
    const kind = kindOf(character);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

/** A single joiner or emoji selector next to an emoji is part of that emoji, not hidden text. */
function joinsEmoji(character: string, text: string, at: number): boolean {
  if (character !== "\u{fe0f}" && character !== "\u{200d}") return false;
  const before = characterBefore(text, at);
  const after = String.fromCodePoint(text.codePointAt(at + 1) ?? 0);
  if (character === "\u{200d}")
    return /[\p{Extended_Pictographic}\p{Emoji_Modifier}\u{fe0f}]/u.test(before) && isPictographic(after);
  return isPictographic(before) || (/[0-9#*]/.test(before) && after === "\u{20e3}");
}

function isPictographic(character: string): boolean {
  return /\p{Extended_Pictographic}/u.test(character);
}

function characterBefore(text: string, at: number): string {
  const isPair = /[\udc00-\udfff]/.test(text.charAt(at - 1)) && /[\ud800-\udbff]/.test(text.charAt(at - 2));
  return text.slice(Math.max(0, at - (isPair ? 2 : 1)), at);
}
