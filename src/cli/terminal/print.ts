import { printable } from "../../lib/printable.ts";
import type { Terminal } from "./terminal.ts";
import { displayWidth } from "./text-width.ts";

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

/** Puts text from files and servers on one line and escapes terminal control sequences. */
export function safe(text: string): string {
  return printable(text, { oneLine: true });
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
  return `${JSON.stringify(value, null, 2)}\n`;
}

export function count(number: number, noun: string, several = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : several}`;
}
