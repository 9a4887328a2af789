import { cutLines, markedText } from "./marked-text.ts";
import type { ArgumentsView, ShownArguments } from "./argument-lines.ts";

const mostLines = 20;

/** What a server says before a question: one line as it is, several with marks. */
export function saidLines(message: string, { width, isWhole = false }: ArgumentsView): ShownArguments {
  const all = markedText(message, width - 2);
  const shown = isWhole ? all : cutLines(all, mostLines);
  return { lines: shown.map((line) => `  ${line}`), isCut: shown.length < all.length };
}
