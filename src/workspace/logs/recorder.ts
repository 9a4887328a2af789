import type { ConnectionChanged, LogLevel, ServerLog } from "../../events.ts";
import { appendLog } from "./log-file.ts";

/** One line of a server's log. */
export interface LogLine {
  /** Milliseconds since the epoch. */
  at: number;
  /** The Plugboard process that used the server. */
  pid: number;
  /** `state` is what became of the connection, `notification` a log message of the protocol. */
  source: ServerLog["source"] | "state";
  level: LogLevel;
  message: string;
}

/** Lines are collected for this long, so that a chatty server costs ten writes a second. */
const collectMs = 100;
const maxCharacters = 4_000;
/** Per server and second; the rest is counted. */
const maxLines = 200;

interface Collected {
  path: string | undefined;
  lines: string[];
  second: number;
  count: number;
  left: number;
}

/**
 * Writes what servers say, and how their connections begin and end, to their log files. What a process collected in its
 * last tenth of a second is lost if it is killed. Where nothing can be written, nothing is recorded.
 */
export class LogRecorder {
  readonly #pathOf: (server: string) => string | undefined;
  readonly #collected = new Map<string, Collected>();
  #timer: NodeJS.Timeout | undefined;

  constructor(pathOf: (server: string) => string | undefined) {
    this.#pathOf = pathOf;
  }

  hear(event: ServerLog | ConnectionChanged): void {
    const line = logLine(event);
    if (!line) return;
    const one = this.#collectedOf(event.server);
    const second = Math.floor(line.at / 1000);
    if (second !== one.second) {
      this.#tellLeft(one);
      one.second = second;
      one.count = 0;
    }
    // What became of the connection is always worth a line.
    if (++one.count > maxLines && line.source !== "state") one.left++;
    else this.#write(one, line);
  }

  /** Writes what is left. */
  close(): void {
    for (const one of this.#collected.values()) this.#tellLeft(one);
    this.#flush();
  }

  #collectedOf(server: string): Collected {
    const known = this.#collected.get(server);
    if (known) return known;
    const created = { path: this.#pathOf(server), lines: [], second: 0, count: 0, left: 0 };
    this.#collected.set(server, created);
    return created;
  }

  #tellLeft(one: Collected): void {
    if (one.left === 0) return;
    const message = `… ${one.left} more lines in the same second`;
    one.left = 0;
    this.#write(one, { at: one.second * 1000 + 999, source: "transport", level: "info", message });
  }

  #write({ path, lines }: Collected, { message, ...line }: Omit<LogLine, "pid">): void {
    if (path === undefined) return;
    lines.push(
      `${JSON.stringify({ ...line, pid: process.pid, message: message.slice(0, maxCharacters) })}\n`,
    );
    this.#timer ??= setTimeout(() => this.#flush(), collectMs).unref();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const one of this.#collected.values()) {
      const text = one.lines.join("");
      one.lines = [];
      try {
        if (one.path !== undefined && text !== "") appendLog(one.path, text);
      } catch {
        // A full disk must not end a call.
      }
    }
  }
}

/** What an event says about a server; undefined if it is not worth a line. */
export function logLine(event: ServerLog | ConnectionChanged): Omit<LogLine, "pid"> | undefined {
  if (event.type === "connection-changed") return stateLine(event);
  const { at, source, level, message, server } = event;
  return server === "" ? undefined : { at, source, level, message };
}

function stateLine({ from, to, at, error }: ConnectionChanged): Omit<LogLine, "pid"> | undefined {
  const line = (level: LogLevel, message: string) => ({ at, source: "state" as const, level, message });
  if (from === to || to === "disabled") return undefined;
  if (error) return line("error", error.message);
  if (to === "connecting") return line("info", "starting");
  if (to === "ready" || to === "closed")
    return from === "connected" || from === "connecting" || from === "degraded"
      ? line("info", "stopped")
      : undefined;
  return line("info", to);
}
