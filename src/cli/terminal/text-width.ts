/** How many terminal columns a text takes up. May overestimate a multi-part emoji, never underestimate. */
export function displayWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

/** Shortens a text to `width` columns and ends it with `…`. */
export function cutText(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let cut = "";
  let used = 1;
  for (const character of text) {
    used += characterWidth(character);
    if (used > width) break;
    cut += character;
  }
  return `${cut}…`;
}

/** Wraps a text to `width` columns, between words where possible. A command in backticks stays whole if it fits on a line. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  const words = wordsOf(text, width).flatMap((word) => hardWrap(word, width));
  for (const word of words) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line === "" || displayWidth(longer) <= width) line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line];
}

/** The parts of a text between spaces. Those within backticks separate nothing, unless the whole does not fit. */
function wordsOf(text: string, width: number): string[] {
  const parts = text.split("`");
  if (parts.length % 2 === 0) return text.split(" ");
  const words = [""];
  for (const [index, part] of parts.entries()) {
    const isQuoted = index % 2 === 1;
    const [first = "", ...rest] = isQuoted ? [`\`${part}\``] : part.split(" ");
    words[words.length - 1] += first;
    for (const word of rest) words.push(word);
  }
  return words.flatMap((word) => (displayWidth(word) <= width ? [word] : word.split(" ")));
}

/** Breaks a text where a line is full, after a space near its end if there is one. Leaves out nothing: every space stays. */
export function hardWrap(text: string, width: number): string[] {
  if (displayWidth(text) <= width) return [text];
  const parts: string[] = [];
  let part = "";
  let used = 0;
  for (const character of text) {
    const more = characterWidth(character);
    if (part !== "" && used + more > width) {
      const space = part.lastIndexOf(" ");
      const end = space > part.length / 2 ? space + 1 : part.length;
      parts.push(part.slice(0, end));
      part = part.slice(end);
      used = displayWidth(part);
    }
    part += character;
    used += more;
  }
  // A full stop does not stand alone.
  const [, kept, moved] = /^(.+)(.)$/su.exec(parts.at(-1) ?? "") ?? [];
  return kept !== undefined && /^\p{P}$/u.test(part)
    ? [...parts.slice(0, -1), kept, `${moved}${part}`]
    : [...parts, part];
}

function characterWidth(character: string): number {
  if (character === "\u{fe0f}") return 1;
  // Spacing marks, \p{Mc}, have a column of their own.
  if (/^[\p{Mn}\p{Me}\u{200d}]$/u.test(character)) return 0;
  const code = character.codePointAt(0) ?? 0;
  const isWide = wideRanges.some(([first, last]) => code >= first && code <= last);
  return isWide || /^\p{Emoji_Presentation}$/u.test(character) ? 2 : 1;
}

/** East Asian wide and full-width characters, by Unicode 16. Too few of them would let a terminal wrap our lines. */
const wideRanges: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2329, 0x232a],
  [0x2630, 0x2637],
  [0x268a, 0x268f],
  [0x2e80, 0x303e],
  [0x3041, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18dff],
  [0x1aff0, 0x1b2ff],
  [0x1d300, 0x1d37f],
  [0x1f200, 0x1f2ff],
  [0x1f300, 0x1faff],
  [0x20000, 0x3fffd],
];
