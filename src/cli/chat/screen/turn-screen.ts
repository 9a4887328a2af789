import type { Hub } from "../../../index.ts";
import { LiveArea, printLines } from "../../terminal/live-area.ts";
import type { Line } from "../../terminal/live-area.ts";
import { hanging, painter, safe } from "../../terminal/print.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { frameMs, waitingLine } from "../../terminal/waiting.ts";
import type { ChatEvent } from "../events.ts";
import { ModelWords } from "./model-words.ts";
import { callLine, resultLines } from "./call-lines.ts";

/** A call of this run, for `/show`. */
export interface ShownCall {
  name: string;
  arguments: unknown;
  result?: { isError: boolean; text: string; files: string[] };
}

interface Running {
  words: string;
  startedAt: number;
  share?: number | undefined;
  message?: string | undefined;
}

/** Shows a turn: the model's words as they come, calls and their results, and below them what is still running. */
export class TurnScreen implements Disposable {
  readonly #terminal: Terminal;
  readonly #area: LiveArea;
  readonly #nameOf: (tool: string) => string;
  readonly #calls: ShownCall[];
  readonly #numbers = new Map<string, number>();
  readonly #running = new Map<string, Running>();
  readonly #stops: (() => void)[];
  readonly #ticker: NodeJS.Timeout;
  #isDrawn = false;
  #isHidden = false;
  #isInLine = false;
  readonly #words = new ModelWords();
  #waitingSince = Date.now();
  /** What happened while a question was on the screen. */
  #missed: (() => void)[] = [];

  constructor(terminal: Terminal, hub: Hub, nameOf: (tool: string) => string, calls: ShownCall[]) {
    this.#terminal = terminal;
    this.#area = new LiveArea(terminal, "out");
    this.#nameOf = nameOf;
    this.#calls = calls;
    this.#stops = [
      hub.on("call-start", ({ call, tool }) => {
        this.#running.set(call, { words: this.#nameOf(tool), startedAt: Date.now() });
      }),
      hub.on("call-progress", ({ call, progress, total, message }) => {
        const running = this.#running.get(call);
        if (!running) return;
        running.share = total === undefined || total <= 0 ? undefined : progress / total;
        running.message = message ?? running.message;
        this.#draw();
      }),
      hub.on("call-end", ({ call }) => void this.#running.delete(call)),
    ];
    this.#ticker = setInterval(() => this.#draw(), frameMs);
  }

  take(event: ChatEvent): void {
    if (this.#isHidden) return void this.#missed.push(() => this.take(event));
    if (event.type === "text") this.#text(event.text);
    else if (event.type === "tool-call") this.#call(event.id, event.tool, event.arguments);
    else if (event.type === "tool-result") this.#result(event.id, event);
    else if (event.type === "notice") this.note(noticeText(event.message, this.#terminal));
    this.#waitingSince = Date.now();
  }

  /** Shows a text of whole lines. */
  note(text: string): void {
    if (this.#isHidden) return void this.#missed.push(() => this.note(text));
    this.#lines(text);
  }

  /** While a question is on the screen, nothing else is drawn. */
  hide(isHidden: boolean): void {
    if (isHidden) this.#endLine();
    this.#isHidden = isHidden;
    const missed = isHidden ? [] : this.#missed;
    if (!isHidden) this.#missed = [];
    for (const again of missed) again();
    this.#draw();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#ticker);
    if (this.#missed.length > 0) this.hide(false);
    for (const stop of this.#stops) stop();
    this.#endLine();
  }

  #text(text: string): void {
    const shown = this.#words.take(text);
    if (shown === "" || (!this.#isInLine && shown.trim() === "")) return;
    this.#erase();
    this.#terminal.out(shown);
    this.#isInLine = !shown.endsWith("\n");
  }

  #call(id: string, tool: string, args: unknown): void {
    const name = this.#nameOf(tool);
    const number = this.#calls.push({ name, arguments: args });
    this.#numbers.set(id, number);
    this.#lines(printLines([callLine(number, name, args, this.#width)], this.#terminal));
  }

  #result(id: string, result: NonNullable<ShownCall["result"]>): void {
    const number = this.#numbers.get(id) ?? 0;
    const call = this.#calls[number - 1];
    if (call) call.result = result;
    this.#lines(printLines(resultLines(number, result, this.#width), this.#terminal));
  }

  get #width(): number {
    return this.#terminal.columns - 1;
  }

  #lines(text: string): void {
    this.#endLine();
    this.#terminal.out(text);
    this.#draw();
  }

  #endLine(): void {
    this.#erase();
    const rest = this.#words.end();
    if (rest !== "") this.#terminal.out(rest);
    this.#isInLine ||= rest !== "";
    if (this.#isInLine) this.#terminal.out("\n");
    this.#isInLine = false;
  }

  #draw(): void {
    if (this.#isHidden || this.#isInLine) return;
    const lines = this.#frame();
    if (lines.length === 0) return this.#erase();
    this.#area.draw(lines);
    this.#isDrawn = true;
  }

  #erase(): void {
    if (!this.#isDrawn) return;
    this.#area.draw([]);
    this.#area.end();
    this.#isDrawn = false;
  }

  #frame(): Line[] {
    const now = Date.now();
    if (this.#running.size > 0)
      return [...this.#running.values()].map(({ startedAt, ...one }) => waitingLine(one, now - startedAt));
    const waited = now - this.#waitingSince;
    return waited < 2 * frameMs ? [] : [waitingLine({ words: "Thinking" }, waited)];
  }
}

/** A line about something that a person should know, wrapped so that it cannot look like several. */
export function noticeText(message: string, terminal: Terminal): string {
  return `${painter(terminal)("yellow", "!")} ${hanging(safe(message), 2, terminal)}\n`;
}
