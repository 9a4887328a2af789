import { drawWhile } from "./live-area.ts";
import type { Line } from "./live-area.ts";
import { safe } from "./print.ts";
import type { Terminal } from "./terminal.ts";

export interface Waiting {
  /** What is waited for. */
  words: string;
  /** From 0 to 1. */
  share?: number | undefined;
  /** What the server says about it. */
  message?: string | undefined;
  /** Nothing is shown, because somebody is being asked something. */
  isHidden?: boolean;
}

const frames = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
const frameMs = 100;
/** What is over sooner needs no spinner. */
const patienceMs = 200;

/** Shows on standard error, on a terminal, that something is under way; nothing of it is left afterwards. */
export function spinWhile<T>(
  terminal: Terminal,
  waiting: () => Waiting,
  work: (redraw: () => void) => Promise<T>,
): Promise<T> {
  const startedAt = Date.now();
  const frame = (): Line[] => {
    const elapsed = Date.now() - startedAt;
    const now = waiting();
    return elapsed < patienceMs || now.isHidden ? [] : [waitingLine(now, elapsed)];
  };
  const drawing = { frame, signal: never, keep: false, stream: "err" as const, everyMs: frameMs };
  return drawWhile(terminal, drawing, work);
}

/** A spinner that makes room while a person is asked something. */
export function yieldingSpinner(words: string) {
  const waiting: Waiting = { words };
  let redraw = () => {};
  return {
    waiting,
    onAsking: (isAsking: boolean) => {
      waiting.isHidden = isAsking;
      redraw();
    },
    spinWhile: <T>(terminal: Terminal, work: () => Promise<T>): Promise<T> =>
      spinWhile(
        terminal,
        () => waiting,
        (again) => {
          redraw = again;
          return work();
        },
      ),
  };
}

const never = new AbortController().signal;

function waitingLine({ words, share, message }: Waiting, elapsedMs: number): Line {
  const percent = share === undefined ? "" : `  ${Math.floor(Math.min(1, Math.max(0, share)) * 100)}%`;
  const seconds = Math.floor(elapsedMs / 1000);
  const elapsed =
    seconds < 1
      ? ""
      : `  ${seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`}`;
  return [
    { text: `${frames[Math.floor(elapsedMs / frameMs) % frames.length] ?? ""} `, style: "cyan" },
    { text: safe(words) },
    { text: `${percent}${elapsed}`, style: "dim" },
    { text: message === undefined ? "" : `  ${safe(message)}` },
  ];
}
