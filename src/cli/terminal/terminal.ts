import type { Socket } from "node:net";
import { Writable } from "node:stream";
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { ReadStream, WriteStream } from "node:tty";
import { PlugboardError } from "../../index.ts";
import type { Environment, Folders } from "../../config.ts";
import { printable } from "../../lib/printable.ts";
import { clackAsk } from "./ask.ts";
import type { Ask } from "./ask.ts";
import { screenText, wrappedMessage } from "./print.ts";
import { Interrupted, catchProcessSignals } from "./signals.ts";
import type { CaughtSignals } from "./signals.ts";
import { discardTypeAhead } from "./type-ahead.ts";

/** What a command reads from and writes to: the process, or a test. */
export interface Terminal {
  /** On a screen, lets only text and colours through. */
  out(text: string): void;
  err(text: string): void;
  /** Writes text with cursor movements as it is. Everything that comes from outside must have been made safe. */
  draw(stream: "out" | "err", text: string): void;
  /** Input and output are a terminal, so questions can be asked. */
  isInteractive: boolean;
  /** `out` supports cursor movement, so output can be redrawn. */
  isLive: boolean;
  /** The same for `err`, which shows progress even if `out` is a file. */
  isErrLive: boolean;
  /** `out` is a terminal, so text from servers is escaped; a file gets it unchanged. */
  isScreen: boolean;
  colors: { out: boolean; err: boolean };
  readonly columns: number;
  readonly rows: number;
  env: Environment;
  cwd: string;
  /** Reads all of standard input. */
  readInput(): Promise<string>;
  /** Waits until standard input has something or ends. False if neither happens in time; it is then let go. */
  hasInput(withinMs: number): Promise<boolean>;
  /** Reads the next line that is not empty; undefined at the end of the input, or when aborted. */
  readLine(signal: AbortSignal): Promise<string | undefined>;
  /**
   * Asks yes or no; only called when `isInteractive`. What was typed before does not answer it. With `word`, only the
   * whole word means yes, for what must not happen by a slip. Ctrl-C throws `Interrupted`.
   */
  confirm(question: string, options?: { word: boolean }): Promise<boolean>;
  /** Asks questions; absent without a terminal. */
  ask?: Ask;
  /** The terminal itself, for a verb that edits lines; absent unless input and output are one. */
  tty?: { input: ReadStream; output: WriteStream };
  /**
   * Standard input and output for protocol messages. From then on, whatever else is written to standard output goes to
   * standard error, so that a stray line cannot break the protocol.
   */
  takePipes(): { input: Readable; output: Writable };
  /** Until disposed, Ctrl-C and similar signals abort the returned signal instead of ending the process. */
  catchSignals(): CaughtSignals;
  /** Set by verbs that complete but report a problem. */
  exitCode: number;
  /** Set if work that cannot be cancelled may be left: ends the process then, as a time of `performance.now()`. */
  exitBy?: number;
  /** For tests: replaces the platform's folders. */
  folders?: Folders;
}

export const showCursor = "\u001b[?25h";
const maxInputBytes = 10_000_000;
const maxLineCharacters = 100_000;

export function processTerminal(): Terminal {
  const { stdin, stdout, stderr, env } = process;
  const hasColors = (stream: { isTTY?: boolean }) =>
    env["FORCE_COLOR"]
      ? env["FORCE_COLOR"] !== "0"
      : hasTerminal(stream) && !env["NO_COLOR"] && env["TERM"] !== "dumb";
  const isDrawable = env["TERM"] !== "dumb" && !env["CI"];
  const isLive = hasTerminal(stdout) && isDrawable;
  const isErrLive = hasTerminal(stderr) && isDrawable;
  const hasPerson = hasTerminal(stdin) && hasTerminal(stderr) && !env["CI"];
  return {
    out: (text) => void stdout.write(hasTerminal(stdout) ? screenText(text) : text),
    err: (text) =>
      void stderr.write(hasTerminal(stderr) ? wrappedMessage(screenText(text), stderr.columns || 80) : text),
    draw: (stream, text) => void (stream === "out" ? stdout : stderr).write(text),
    isInteractive: hasTerminal(stdin) && hasTerminal(stdout) && !env["CI"],
    colors: { out: hasColors(stdout), err: hasColors(stderr) },
    isLive,
    isErrLive,
    isScreen: hasTerminal(stdout),
    get columns() {
      return stdout.columns || stderr.columns || 80;
    },
    get rows() {
      return stdout.rows || stderr.rows || 24;
    },
    env,
    cwd: workingFolder(),
    exitCode: 0,
    ...(hasPerson && { ask: clackAsk(stderr, stdin) }),
    ...(hasPerson && isLive && { tty: { input: stdin, output: stdout } }),
    takePipes: () => ({ input: stdin, output: guardedOutput(stdout, stderr) }),
    catchSignals: () =>
      catchProcessSignals(() => {
        if (isLive) stdout.write(showCursor);
        else if (isErrLive) stderr.write(showCursor);
      }),
    readInput: async () => {
      const chunks: Buffer[] = [];
      let size = 0;
      for await (const chunk of stdin as AsyncIterable<Buffer>) {
        chunks.push(chunk);
        size += chunk.length;
        if (size > maxInputBytes)
          throw new PlugboardError("usage-invalid", "Standard input is larger than 10 MB.", {
            hint: "Send less of it.",
          });
      }
      return Buffer.concat(chunks).toString("utf8");
    },
    hasInput: (withinMs) => hasInput(stdin, withinMs),
    readLine: (signal) => readLine(stdin, signal),
    confirm: (question, { word } = { word: false }) =>
      word ? confirmByWord(question, stdin) : confirmByKey(question, stdin),
  };
}

async function confirmByKey(question: string, stdin: typeof process.stdin): Promise<boolean> {
  const { confirm } = await import("@clack/prompts");
  if (await discardTypeAhead(stdin)) throw new Interrupted("SIGINT");
  return answered(await confirm({ message: printable(question), initialValue: false }));
}

async function confirmByWord(question: string, stdin: typeof process.stdin): Promise<boolean> {
  const { text } = await import("@clack/prompts");
  if (await discardTypeAhead(stdin)) throw new Interrupted("SIGINT");
  const answer = await text({
    message: `${printable(question)} Type yes or no.`,
    validate: (given) =>
      /^(?:yes|no?)?$/i.test((given ?? "").trim()) ? undefined : "Type the whole word yes, or no.",
  });
  return /^yes$/i.test(((answered(answer) as string | undefined) ?? "").trim());
}

/** Whoever gives up means the whole command, not only this question. */
function answered<T>(answer: T): Exclude<T, symbol> {
  if (typeof answer === "symbol") throw new Interrupted("SIGINT");
  return answer as Exclude<T, symbol>;
}

/** The only way left to standard output; everybody else writes to `instead`. */
export function guardedOutput(stdout: Writable, instead: Writable): Writable {
  const target = Object.create(stdout, {
    write: { value: stdout.write.bind(stdout) },
  }) as Writable;
  const output = new Writable({
    highWaterMark: stdout.writableHighWaterMark,
    writev: (chunks, done) => {
      stdout.cork();
      const wasTaken = chunks.map(({ chunk }) => target.write(chunk)).every(Boolean);
      stdout.uncork();
      if (wasTaken || stdout.destroyed) done();
      else stdout.once("drain", done);
    },
  });
  stdout.once("close", () => output.destroy()).once("error", () => output.destroy());
  stdout.write = ((chunk: Buffer | string, ...rest: unknown[]) => {
    const done = rest.find((one) => typeof one === "function") as (() => void) | undefined;
    return instead.write(printable(String(chunk)), done);
  }) as typeof stdout.write;
  return output;
}

function hasInput(input: Readable, withinMs: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const end = (isThere: boolean) => {
    clearTimeout(timer);
    input.off("readable", onInput).off("end", onInput).off("error", onInput);
    if (!isThere) (input as Partial<Socket>).unref?.();
    resolve(isThere);
  };
  const onInput = () => end(true);
  const timer = setTimeout(() => end(false), withinMs);
  input.on("readable", onInput).on("end", onInput).on("error", onInput);
  return promise;
}

/** Stops reading with its line, so that a pipe that stays open does not keep the process running. */
function readLine(input: Readable, signal: AbortSignal): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  let text = "";
  const decoder = new StringDecoder("utf8");
  const end = (line: string | undefined) => {
    input.off("data", onData).off("end", onEnd).off("error", onEnd).pause();
    (input as Partial<Socket>).unref?.();
    signal.removeEventListener("abort", onAbort);
    resolve(line);
  };
  const onData = (chunk: Buffer) => {
    text = (text + decoder.write(chunk)).trimStart();
    const length = text.search(/[\r\n]/);
    if (length !== -1 || text.length > maxLineCharacters) end(length === -1 ? text : text.slice(0, length));
  };
  const onEnd = () => end(text.trim() === "" ? undefined : text);
  const onAbort = () => end(undefined);
  if (signal.aborted || input.readableEnded) return Promise.resolve(undefined);
  signal.addEventListener("abort", onAbort, { once: true });
  input.on("data", onData).once("end", onEnd).once("error", onEnd);
  return promise;
}

/** `isTTY` is undefined on streams that are not terminals. */
function hasTerminal(stream: { isTTY?: boolean }): boolean {
  return stream.isTTY ?? false;
}

/** The current folder may have been deleted. The root is a neutral replacement. */
function workingFolder(): string {
  try {
    return process.cwd();
  } catch {
    return "/";
  }
}
