import { wrapText } from "./text-width.ts";

/** With less room than this, a description gets lines of its own below its term. */
const narrow = 60;

/** One argument, option or command in a verb's help. Replaces Commander's own, which stops wrapping when there is little room. */
export function helpItem(
  this: { helpWidth?: number | undefined },
  term: string,
  termWidth: number,
  description: string,
): string {
  if (description === "") return `  ${term}`;
  const width = this.helpWidth ?? 80;
  const isNarrow = width < narrow;
  const indent = isNarrow ? 6 : termWidth + 4;
  const lines = wrapText(description, Math.max(20, width - indent)).join(`\n${" ".repeat(indent)}`);
  return isNarrow ? `  ${term}\n${" ".repeat(indent)}${lines}` : `  ${term.padEnd(termWidth)}  ${lines}`;
}

/** Wraps the rows `name   meaning` that a verb adds below its help. An example stays on one line, so that it can be copied. */
export function helpText(text: string, columns: number): string {
  return text
    .split("\n")
    .map((line) => {
      const [, start = "", meaning = ""] = /^( {2}\S+ {2,})(\S.*)$/.exec(line) ?? [];
      if (meaning === "" || line.length < columns) return line;
      const width = Math.max(20, columns - 1 - start.length);
      return start + wrapText(meaning, width).join(`\n${" ".repeat(start.length)}`);
    })
    .join("\n");
}
