import { painter, safe } from "./print.ts";
import type { Style } from "./print.ts";
import { showCursor } from "./terminal.ts";
import type { Terminal } from "./terminal.ts";
import { cutText, displayWidth } from "./text-width.ts";

/** One line on screen, as styled pieces. */
export type Line = readonly { text: string; style?: Style | undefined }[];

const hideCursor = "\u001b[?25l";
const clearToLineEnd = "\u001b[K";
const clearToScreenEnd = "\u001b[J";
const frameMs = 250;

export interface Drawing {
  /** While the frame is empty, nothing is on screen and the cursor is visible. */
  frame: () => Line[];
  signal: AbortSignal;
  keep: boolean;
  stream?: "out" | "err";
  everyMs?: number;
}

/**
 * Redraws a frame while `work` runs. Without a terminal it only runs the work. After an interrupt the last frame
 * stays on standard output; otherwise `keep` decides.
 */
export async function drawWhile<T>(
  terminal: Terminal,
  { frame, signal, keep, stream = "out", everyMs = frameMs }: Drawing,
  work: (redraw: () => void) => Promise<T>,
): Promise<T> {
  if (!(stream === "out" ? terminal.isLive : terminal.isErrLive)) return work(() => undefined);
  const area = new LiveArea(terminal, stream);
  let isOver = false;
  const redraw = () => {
    if (isOver || signal.aborted) return;
    const lines = frame();
    area.draw(lines);
    if (lines.length === 0) area.end();
  };
  redraw();
  const ticker = setInterval(redraw, everyMs);
  const finish = () => {
    isOver = true;
    clearInterval(ticker);
    if (!keep && (stream === "err" || !signal.aborted)) area.draw([]);
    area.end();
  };
  signal.addEventListener("abort", finish, { once: true });
  try {
    return await work(redraw);
  } finally {
    signal.removeEventListener("abort", finish);
    finish();
  }
}

/** The last lines of the screen, drawn over again and again. Each redraw is a single write, to avoid flicker. */
export class LiveArea {
  readonly #terminal: Terminal;
  readonly #stream: "out" | "err";
  #shown = "";
  #widths: number[] = [];
  #isOpen = false;

  constructor(terminal: Terminal, stream: "out" | "err") {
    this.#terminal = terminal;
    this.#stream = stream;
  }

  draw(lines: Line[]): void {
    const { columns, rows } = this.#terminal;
    // Some terminals wrap a line of full width, and lines that scrolled off the top cannot be redrawn.
    const width = Math.max(1, columns - 1);
    const room = Math.max(1, rows - 1);
    const hidden = lines.length - room;
    const fitting: Line[] =
      hidden > 0 ? [...lines.slice(0, room - 1), [{ text: `… ${hidden + 1} more lines` }]] : lines;
    const cut = fitting.map((line) => cutLine(line.map(safePiece), width));
    const paint = painter(this.#terminal, this.#stream);
    const text = cut
      .map((line) => line.map((piece) => (piece.style ? paint(piece.style, piece.text) : piece.text)))
      .map((pieces) => `${pieces.join("")}${clearToLineEnd}\n`)
      .join("");
    const key = `${columns}x${rows}\n${text}`;
    if (key === this.#shown) return;
    const up = this.#height(columns, rows);
    const back = up > 0 ? `\u001b[${up}A\r` : "\r";
    // Lines that are not needed any more are cleared one by one: tmux keeps a copy of a screen that is cleared from its top.
    const left = Math.max(0, up - cut.length);
    const rest = `${clearToLineEnd}\n`.repeat(left) + clearToScreenEnd + (left > 0 ? `\u001b[${left}A` : "");
    this.#terminal.draw(this.#stream, `${this.#isOpen ? "" : hideCursor}${back}${text}${rest}`);
    this.#isOpen = true;
    this.#shown = key;
    this.#widths = cut.map((line) => line.reduce((sum, piece) => sum + displayWidth(piece.text), 0));
  }

  /** Keeps the frame, removes a `^C` that the terminal may have printed below it, and shows the cursor. */
  end(): void {
    if (this.#isOpen) this.#terminal.draw(this.#stream, `\r${clearToLineEnd}${showCursor}`);
    this.#isOpen = false;
  }

  /** How many lines the last frame takes up now: its lines wrap if the window became narrower. */
  #height(columns: number, rows: number): number {
    const lines = this.#widths.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0);
    return Math.min(lines, Math.max(1, rows - 1));
  }
}

function safePiece({ text, style }: Line[number]): Line[number] {
  return { text: safe(text), style };
}

export function cutLine(line: Line, width: number): Line {
  let left = width;
  const kept: Line[number][] = [];
  for (const { text, style } of line) {
    if (left <= 0) break;
    const cut = cutText(text, left);
    kept.push({ text: cut, style });
    left -= displayWidth(cut);
    if (cut !== text) break;
  }
  return kept;
}

/** Lines as text, for output that is not redrawn. */
export function printLines(
  lines: readonly Line[],
  terminal: Terminal,
  stream: "out" | "err" = "out",
): string {
  const paint = painter(terminal, stream);
  return lines
    .map((line) => line.map(({ text, style }) => (style ? paint(style, text) : text)).join(""))
    .map((text) => `${text.trimEnd()}\n`)
    .join("");
}
