import { stringifyExact } from "../../lib/exact-json.ts";
import { printable, printableJson } from "../../lib/printable.ts";
import type { Terminal } from "./terminal.ts";
import { displayWidth, wrapText } from "./text-width.ts";

const codes = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

export type Style = keyof typeof codes;
export type Paint = (style: Style, text: string) => string;

/** Colours on a terminal, plain text everywhere else. */
export function painter(terminal: Terminal, stream: "out" | "err" = "out"): Paint {
  const enabled = terminal.colors[stream];
  return (style, text) => (enabled ? `\u001b[${codes[style][0]}m${text}\u001b[${codes[style][1]}m` : text);
}

const colorSequence = new RegExp(`(\\u001b\\[(?:${[...new Set(Object.values(codes).flat())].join("|")})m)`);

const colorSequences = new RegExp(colorSequence, "g");

/**
 * What a screen may be sent: text and our colours. The last gate before a terminal, for text that nobody made safe
 * before; the worst that it lets through is a colour.
 */
export function screenText(text: string): string {
  return text
    .split(colorSequence)
    .map((part, index) => (index % 2 === 1 ? part : printable(part)))
    .join("");
}

/** Puts text from files and servers on one line and escapes terminal control sequences. */
export function safe(text: string): string {
  return printable(text, { oneLine: true });
}

/** How wide lines may be on a screen, also on one that cannot be redrawn. `otherwise` holds for files and programs. */
export function screenWidth(terminal: Terminal, otherwise = Infinity): number {
  return terminal.isScreen ? terminal.columns - 1 : otherwise;
}

/**
 * Wraps messages to the width of a screen, between words. Quoted commands and addresses stay whole, so that they can be
 * copied; so does JSON. What continues a line is indented.
 */
export function wrappedMessage(text: string, columns: number): string {
  if (!text.endsWith("\n") || /^[{[]/.test(text)) return text;
  return text
    .split("\n")
    .map((line) => wrappedLine(line, columns - 1))
    .join("\n");
}

function wrappedLine(line: string, width: number): string {
  const shownWidth = (part: string) => displayWidth(part.replaceAll(colorSequences, ""));
  if (shownWidth(line) <= width) return line;
  const [margin = ""] = /^(?:error: | *(?:│ )?)/.exec(line.replaceAll(colorSequences, "")) ?? [];
  const indent = Math.max(2, margin.length);
  if (indent > width / 2) return line;
  const lines: string[] = [];
  let current = "";
  // The spaces before a word go with it: those at the start of the line and between columns stay as they are.
  for (const word of line.match(/ *(?:`[^`]*`|[^ `]|`)+/g) ?? []) {
    if (current.trim() === "" || shownWidth(current + word) <= width) current += word;
    else {
      lines.push(current);
      current = " ".repeat(indent) + word.trimStart();
    }
  }
  return [...lines, current].join("\n");
}

/** Wraps a line on a screen so that what follows is indented: no text of others can look like a line of ours. */
export function hanging(text: string, indent: number, terminal: Terminal): string {
  if (!terminal.isScreen) return text;
  const [first = "", ...rest] = wrapText(text, Math.max(20, terminal.columns - indent - 1));
  return [first, ...rest.map((line) => " ".repeat(indent) + line)].join("\n");
}

/** Aligns all columns but the last. Escapes the cells, so callers pass raw text. */
export function table(
  header: string[],
  rows: string[][],
  paint: Paint,
  style?: (row: number, column: number) => Style | undefined,
): string {
  const cells = [header, ...rows].map((row) => row.map(safe));
  const widths = header.map((_, column) => Math.max(...cells.map((row) => displayWidth(row[column] ?? ""))));
  const line = (row: string[], decorate: (text: string, column: number) => string) =>
    row
      .map((cell, column) => {
        const padding =
          column === row.length - 1 ? "" : " ".repeat((widths[column] ?? 0) - displayWidth(cell) + 2);
        return decorate(cell, column) + padding;
      })
      .join("")
      .trimEnd();
  const [head = [], ...body] = cells;
  const lines = body.map((row, index) =>
    line(row, (text, column) => {
      const look = style?.(index, column);
      return look ? paint(look, text) : text;
    }),
  );
  return `${[line(head, (text) => paint("dim", text)), ...lines].join("\n")}\n`;
}

export function json(value: unknown): string {
  return `${printableJson(stringifyExact(value, 2))}\n`;
}

/** One value on one line, for output that goes on. */
export function jsonLine(value: unknown): string {
  return `${printableJson(stringifyExact(value))}\n`;
}

export function count(number: number, noun: string, several = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : several}`;
}
