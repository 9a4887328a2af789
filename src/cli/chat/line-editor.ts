import { createInterface } from "node:readline/promises";
import type { Interface } from "node:readline/promises";
import { PassThrough } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { ReadStream, WriteStream } from "node:tty";
import { PasteReader, newlineMark } from "./paste.ts";

/** What was typed: a line, Ctrl-C (with what stood there), or the end of the input. */
export type Typed = { kind: "line"; text: string } | { kind: "interrupt"; text: string } | { kind: "end" };

/** Returns the completions, and the part of the line that they replace. */
export type Completer = (line: string) => Promise<[string[], string]>;

const ctrlC = "\u0003";
const ctrlZ = "\u001a";
const pasteOn = "\u001b[?2004h";
const pasteOff = "\u001b[?2004l";
/** What is typed during a turn appears in the next line. */
const maxAhead = 10_000;

/**
 * Reads lines from a terminal. Between lines it still listens: Ctrl-C interrupts, and everything else is kept for the
 * next line. `release` hands the keys to somebody else, who asks a question.
 */
export class LineEditor {
  /** Called for Ctrl-C while no line is being typed. */
  onInterrupt: () => void = () => undefined;
  readonly #input: ReadStream;
  readonly #output: WriteStream;
  readonly #complete: Completer;
  readonly #history: string[];
  readonly #onData = (chunk: Buffer) => this.#take(this.#decoder.write(chunk));
  #decoder = new StringDecoder("utf8");
  #paste = new PasteReader();
  #ahead = "";
  /** Over once Enter was pressed, although the line itself arrives a moment later. */
  #line: { keys: PassThrough; rl: Interface; isOver: boolean } | undefined;
  #isAttached = false;

  constructor(
    { input, output }: { input: ReadStream; output: WriteStream },
    complete: Completer,
    history: string[],
  ) {
    this.#input = input;
    this.#output = output;
    this.#complete = complete;
    this.#history = history.map((text) => text.replaceAll("\n", newlineMark));
    this.attach();
  }

  /** A backslash at the end of a line continues it. */
  async read(prompt: string): Promise<Typed> {
    let whole = "";
    for (;;) {
      const typed = await this.#readLine(whole === "" ? prompt : "… ");
      if (typed.kind !== "line") return typed;
      if (!typed.text.endsWith("\\")) return { kind: "line", text: whole + typed.text };
      whole += `${typed.text.slice(0, -1)}\n`;
    }
  }

  /** Writes above the line that is being typed, or just writes. The text ends with a newline. */
  above(text: string): void {
    const rl = this.#line?.rl;
    if (!rl) return void this.#output.write(text);
    const { rows } = rl.getCursorPos();
    this.#output.write(`${rows > 0 ? `\u001b[${rows}A` : ""}\r\u001b[J${text}${"\n".repeat(rows)}`);
    rl.prompt(true);
  }

  attach(): void {
    if (this.#isAttached) return;
    this.#isAttached = true;
    this.#input.setRawMode(true);
    this.#output.write(pasteOn);
    this.#input.on("data", this.#onData).resume();
    this.#line?.rl.prompt(true);
  }

  release(): void {
    if (!this.#isAttached) return;
    this.#isAttached = false;
    if (this.#line) this.#output.write("\n");
    this.#input.off("data", this.#onData).pause();
    this.#output.write(pasteOff);
    this.#input.setRawMode(false);
  }

  close(): void {
    const rl = this.#line?.rl;
    this.#line = undefined;
    rl?.close();
    this.release();
    this.#input.unref();
  }

  #readLine(prompt: string): Promise<Typed> {
    const { promise, resolve } = Promise.withResolvers<Typed>();
    const keys = new PassThrough();
    const rl = createInterface({
      input: keys,
      output: this.#output,
      prompt,
      terminal: true,
      history: [...this.#history],
      historySize: 500,
      removeHistoryDuplicates: true,
      completer: (line: string) => this.#complete(line).catch((): [string[], string] => [[], line]),
    });
    const end = (typed: Typed) => {
      if (this.#line?.rl !== rl) return;
      this.#line = undefined;
      rl.close();
      resolve(typed);
    };
    rl.on("line", (line) => {
      if (line.trim() !== "" && this.#history[0] !== line) this.#history.unshift(line);
      end({ kind: "line", text: line.replaceAll(newlineMark, "\n") });
    });
    rl.on("SIGINT", () => {
      this.#output.write("\n");
      end({ kind: "interrupt", text: rl.line });
    });
    rl.on("close", () => end({ kind: "end" }));
    this.#line = { keys, rl, isOver: false };
    rl.prompt();
    const ahead = this.#ahead;
    this.#ahead = "";
    this.#feed(ahead);
    return promise;
  }

  #take(chunk: string): void {
    const text = this.#paste.read(chunk);
    if (text === ctrlZ) return this.#suspend();
    if (this.#line && !this.#line.isOver) return this.#feed(text);
    const parts = text.split(ctrlC);
    const isInterrupted = parts.length > 1;
    this.#ahead = ((isInterrupted ? "" : this.#ahead) + (parts.at(-1) ?? "")).slice(0, maxAhead);
    for (let times = 1; times < parts.length; times++) this.onInterrupt();
  }

  /** Up to the end of the line; the rest is for the next one. */
  #feed(text: string): void {
    const end = text.search(/[\r\n]/);
    const own = end === -1 ? text : text.slice(0, end + 1);
    if (!this.#line || own === "") return;
    this.#line.isOver = end !== -1;
    // A Tab among other characters would be taken as text.
    for (const piece of own.split(/(\t)/)) if (piece !== "") this.#line.keys.write(piece);
    this.#ahead += text.slice(own.length);
  }

  #suspend(): void {
    this.release();
    process.once("SIGCONT", () => this.attach());
    process.kill(process.pid, "SIGTSTP");
  }
}
