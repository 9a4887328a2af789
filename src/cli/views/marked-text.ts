import { nameText } from "../../lib/name-text.ts";
import { printable } from "../../lib/printable.ts";
import { cutText, hardWrap } from "../terminal/text-width.ts";

/** Letters that are written from right to left: some terminals would turn around name and value on their line. */
export const turnsLine = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** In front of a line of a text of others, and of what continues it on the screen. No line of ours begins so. */
const lineMark = "│ ";
const moreMark = "┊ ";

/**
 * A text of others in several lines, each of which begins with a mark: none of them can look like a line of ours, nor
 * one long line like two.
 */
export function markedText(text: string, width: number): string[] {
  const room = Math.max(10, width - lineMark.length);
  return text
    .split("\n")
    .flatMap((line) =>
      hardWrap(printable(line, { oneLine: true }), room).map(
        (piece, index) => `${index === 0 ? lineMark : moreMark}${piece}`,
      ),
    );
}

/** The beginning and the end of lines, because what matters can be at either, and how much is between them. */
export function cutLines(lines: readonly string[], most: number, indent = ""): string[] {
  if (lines.length <= most) return [...lines];
  const last = most > 5 ? 2 : 1;
  const first = Math.max(1, most - last - 1);
  const left = lines.slice(first, -last);
  const characters = left.reduce((sum, line) => sum + line.trimStart().length, 0);
  const note = `… ${left.length.toLocaleString("en")} more lines, about ${characters.toLocaleString("en")} characters`;
  return [...lines.slice(0, first), indent + note, ...lines.slice(-last)];
}

/** A label that others chose, on one line and short enough for a heading. */
export function shortLabel(text: string, width = 200): string {
  return cutText(printable(text, { oneLine: true }), width);
}

/** Which tool of which server a call is for. Each name has a line of its own where they could change places on one. */
export function callHeading({ tool, server, title }: Called): string[] {
  const parts = [
    nameText(tool),
    `of ${nameText(server)}`,
    ...(title === undefined ? [] : [`(${shortLabel(title)})`]),
  ];
  const line = parts.join(" ");
  return turnsLine.test(line) ? parts.map((part, index) => (index === 0 ? part : `  ${part}`)) : [line];
}

interface Called {
  tool: string;
  server: string;
  title?: string | undefined;
}
