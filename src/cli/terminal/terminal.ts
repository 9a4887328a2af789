import type { Environment, Folders } from "../../index.ts";
import { clackAsk } from "./ask.ts";
import type { Ask } from "./ask.ts";
import { catchProcessSignals } from "./signals.ts";
import type { CaughtSignals } from "./signals.ts";

/** What a command reads from and writes to: the process, or a test. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
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
  /** Asks yes or no; only called when `isInteractive`. Cancelling means no. */
  confirm(question: string): Promise<boolean>;
  /** Asks questions; absent without a terminal. */
  ask?: Ask;
  /** Until disposed, Ctrl-C and similar signals abort the returned signal instead of ending the process. */
  catchSignals(): CaughtSignals;
  /** Set by verbs that complete but report a problem. */
  exitCode: number;
  /** For tests: replaces the platform's folders. */
  folders?: Folders;
}

export const showCursor = "\u001b[?25h";
const maxInputBytes = 10_000_000;

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
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
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
    ...(hasPerson && { ask: clackAsk(stderr) }),
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
        if (size > maxInputBytes) break;
      }
      return Buffer.concat(chunks).toString("utf8");
    },
    confirm: async (question) => {
      const { confirm } = await import("@clack/prompts");
      return (await confirm({ message: question, initialValue: false })) === true;
    },
  };
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
