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
  return `${printableJson(JSON.stringify(value, null, 2))}\n`;
}

/** One value on one line, for output that goes on. */
export function jsonLine(value: unknown): string {
  return `${printableJson(JSON.stringify(value))}\n`;
}

export function count(number: number, noun: string, several = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : several}`;
}
