import { logLevels } from "../host.ts";
import type { LogLevel } from "../host.ts";
import { untilAborted } from "../lib/abortable.ts";
import { startDeadline } from "../lib/deadline.ts";

/** How long a level is kept that a single request wanted: the next one wants the same. */
const keptMs = 600_000;
/** A server that does not answer keeps nobody waiting for longer. */
const patienceMs = 1_000;

/** The lowest level that any session wants: servers are asked for that, and each session gets what it wants of it. */
export class LogLevels {
  readonly #wanted = new Map<object, LogLevel>();
  readonly #ask: (level: LogLevel | undefined) => Promise<void>;
  /** Levels that single requests wanted, until nobody has wanted them for a while. */
  readonly #forNow = new Map<LogLevel, NodeJS.Timeout>();
  #asked: LogLevel | undefined;

  constructor(ask: (level: LogLevel | undefined) => Promise<void>) {
    this.#ask = ask;
  }

  async want(session: object, level: LogLevel): Promise<void> {
    this.#wanted.set(session, level);
    await this.#update();
  }

  async forget(session: object): Promise<void> {
    if (this.#wanted.delete(session)) await this.#update();
  }

  /** Modern clients say with each request what they want. */
  async wantForNow(level: LogLevel): Promise<void> {
    const known = this.#forNow.get(level);
    if (known) return void known.refresh();
    const forget = () => void (this.#forNow.delete(level) && this.#update());
    this.#forNow.set(level, setTimeout(forget, keptMs).unref());
    return this.#update();
  }

  close(): void {
    for (const timer of this.#forNow.values()) clearTimeout(timer);
    this.#forNow.clear();
  }

  async #update(): Promise<void> {
    const wanted = new Set([...this.#wanted.values(), ...this.#forNow.keys()]);
    const lowest = logLevels.find((level) => wanted.has(level));
    if (lowest === this.#asked) return;
    this.#asked = lowest;
    // A server that cannot be asked sends what it wants; each session still gets only its own levels.
    using deadline = startDeadline(patienceMs);
    await untilAborted(this.#ask(lowest), deadline.signal).catch(() => undefined);
  }
}
