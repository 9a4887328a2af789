import type { Line } from "../../terminal/live-area.ts";
import { summaryLine, tableLines } from "./lines.ts";
import type { StatusView } from "./lines.ts";
import type { StatusRow } from "./board.ts";

/**
 * The table while servers connect, with a line that counts them. If it does not fit, those that are up or have failed
 * come first, the newest of them last, so that what comes can be seen to come; then those that are waited for.
 */
export class LiveTable {
  /** The servers that are up or have failed, in the order in which that happened. */
  #settled: string[] = [];

  lines(view: StatusView, height: number): Line[] {
    const { rows } = view;
    const [header = [], ...body] = tableLines(view);
    const footer: Line[] = [[], [{ text: summaryLine(rows), style: "dim" }]];
    this.#update(rows);
    const room = Math.max(1, height - 1 - footer.length);
    const shown = body.length <= room ? body : this.#ordered(rows, room).map((index) => body[index] ?? []);
    return [header, ...shown, ...footer];
  }

  #update(rows: readonly StatusRow[]): void {
    const settled = new Set(rows.filter((row) => !isPending(row)).map(({ name }) => name));
    const before = new Set(this.#settled);
    this.#settled = [
      ...this.#settled.filter((name) => settled.has(name)),
      ...[...settled].filter((name) => !before.has(name)),
    ];
  }

  /** The places of the rows to show. */
  #ordered(rows: readonly StatusRow[], room: number): number[] {
    const places = new Map(rows.map(({ name }, index) => [name, index]));
    const settled = this.#settled.map((name) => places.get(name) ?? 0);
    const pending = rows.flatMap((row, index) => (isPending(row) ? [index] : []));
    const left = Math.min(pending.length, Math.max(room - settled.length, Math.min(mostPending, room - 1)));
    return [...settled.slice(settled.length - (room - left)), ...pending.slice(0, left)];
  }
}

/** How many of those that are waited for are shown in any case. */
const mostPending = 3;

function isPending({ state }: StatusRow): boolean {
  return state === "ready" || state === "connecting";
}
