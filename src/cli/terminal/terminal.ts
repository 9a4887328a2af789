import type { Environment, Folders } from "../../index.ts";
import { clackAsk } from "./ask.ts";
import type { Ask } from "./ask.ts";
import { catchProcessSignals } from "./signals.ts";
import type { CaughtSignals } from "./signals.ts";

/** Where a command reads and writes: the process, or a test. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  /** A person sits at both ends, so questions may be asked. */
  isInteractive: boolean;
  /** What was written can be drawn over: `out` is a screen that understands cursor movements. */
  isLive: boolean;
  /** The same for `err`, where progress is shown so that `out` may be a file. */
  isErrLive: boolean;
  /** `out` is a person's screen, so what servers say is escaped; a file gets it as it is. */
  isScreen: boolean;
  colors: { out: boolean; err: boolean };
  readonly columns: number;
  readonly rows: number;
  env: Environment;
  cwd: string;
  /** Everything that comes in on standard input. */
  readInput(): Promise<string>;
  /** Asks yes or no; only called when `isInteractive`. Cancelling means no. */
  confirm(question: string): Promise<boolean>;
  /** Whoever answers questions; absent when nobody is there. */
  ask?: Ask;
  /** From now until it is disposed of, Ctrl-C and the like abort a signal instead of ending the process. */
  catchSignals(): CaughtSignals;
  /** For a verb that ran to its end and still has something to complain about. */
  exitCode: number;
  /** For tests: other folders than the platform's. */
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

/** Streams that are no terminal do not have the property at all. */
function hasTerminal(stream: { isTTY?: boolean }): boolean {
  return stream.isTTY ?? false;
}

/** The folder may have been deleted under us; then the root has the least to say. */
function workingFolder(): string {
  try {
    return process.cwd();
  } catch {
    return "/";
  }
}
