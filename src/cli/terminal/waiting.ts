import type { Hub } from "../../index.ts";
import { drawWhile } from "./live-area.ts";
import type { Line } from "./live-area.ts";
import { safe } from "./print.ts";
import type { Terminal } from "./terminal.ts";

export interface Waiting {
  /** What the user is waiting for. */
  words: string;
  /** Progress from 0 to 1. */
  share?: number | undefined;
  /** The server's progress message. */
  message?: string | undefined;
  /** Hidden while a question is on screen. */
  isHidden?: boolean;
}

const frames = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
export const frameMs = 100;
/** Work that ends sooner shows no spinner. */
const delayMs = 200;

/** Shows a spinner on standard error while `work` runs, and removes it afterwards or when the signal is aborted. */
export function spinWhile<T>(
  terminal: Terminal,
  waiting: () => Waiting,
  work: (redraw: () => void) => Promise<T>,
  signal: AbortSignal = neverAborted,
): Promise<T> {
  const startedAt = Date.now();
  const frame = (): Line[] => {
    const elapsed = Date.now() - startedAt;
    const now = waiting();
    return elapsed < delayMs || now.isHidden ? [] : [waitingLine(now, elapsed)];
  };
  const drawing = { frame, signal, keep: false, stream: "err" as const, everyMs: frameMs };
  return drawWhile(terminal, drawing, work);
}

/** A spinner that hides while a question is on screen. */
export function yieldingSpinner(words: string) {
  const waiting: Waiting = { words };
  let redraw = () => {};
  return {
    waiting,
    onAsking: (isAsking: boolean) => {
      waiting.isHidden = isAsking;
      redraw();
    },
    spinWhile: <T>(terminal: Terminal, work: () => Promise<T>, signal?: AbortSignal): Promise<T> =>
      spinWhile(
        terminal,
        () => waiting,
        (again) => {
          redraw = again;
          return work();
        },
        signal,
      ),
  };
}

/** Shows what the launchers of servers that are starting do, such as what an install waits for. */
export function showStarts(hub: Hub, waiting: Waiting): void {
  const details = new Map<string, string>();
  hub.on("connection-changed", ({ server, to, detail }) => {
    if (to === "connecting" && detail !== undefined) details.set(server, detail);
    else if (!details.delete(server)) return;
    const [first] = details;
    waiting.message = first && `${first[0]}: ${first[1]}`;
  });
}

const neverAborted = new AbortController().signal;

/** A spinner, what is waited for, and how far it is. */
export function waitingLine({ words, share, message }: Waiting, elapsedMs: number): Line {
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
