import type { Line } from "../terminal/live-area.ts";
import { printLines } from "../terminal/live-area.ts";
import { count, painter, safe, screenWidth } from "../terminal/print.ts";
import type { Style } from "../terminal/print.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { cutText, displayWidth } from "../terminal/text-width.ts";

export interface Listed {
  server: string;
  name: string;
  about: string;
  style?: Style;
}

/**
 * Lists what servers offer, grouped by server: a name and one line about it. Escapes the texts. Empty if nothing is
 * offered; `mark` stands beside the servers' names.
 */
export function listedText(
  entries: readonly Listed[],
  noun: string,
  terminal: Terminal,
  mark?: string,
): string {
  const paint = painter(terminal);
  const width = screenWidth(terminal);
  const groups = [...new Set(entries.map(({ server }) => server))].map((server) => {
    const own = entries.filter((entry) => entry.server === server);
    const about = [count(own.length, noun), ...(mark === undefined ? [] : [mark])].join(", ");
    const heading = `${paint("bold", safe(server))}  ${paint("dim", about)}\n`;
    return heading + printLines(rows(own, width), terminal);
  });
  return groups.join("");
}

/** Lists what was found, the best first, whichever server it is from. */
export function rankedText(entries: readonly Listed[], terminal: Terminal): string {
  const width = screenWidth(terminal);
  return printLines(rows(entries, width), terminal);
}

/** With less room beside the name, what is said about it gets a line of its own. */
const minRoom = 20;

function rows(entries: readonly Listed[], width: number): Line[] {
  const column = Math.min(48, Math.max(0, ...entries.map(({ name }) => displayWidth(safe(name))))) + 2;
  return entries.flatMap(({ name, about, style = "dim" }): Line[] => {
    const shown = cutText(safe(name), width - 2);
    const gap = " ".repeat(Math.max(2, column - displayWidth(shown)));
    const [first = ""] = about.trim().split(/\r?\n/);
    const room = width - 2 - displayWidth(shown) - gap.length;
    const words = { text: cutText(safe(first), room < minRoom ? width - 4 : room), style };
    if (room >= minRoom || first === "") return [[{ text: `  ${shown}${gap}` }, words]];
    return [[{ text: `  ${shown}` }], [{ text: "    " }, words]];
  });
}
