import type { ServerList } from "./server-list.ts";

const maxTimerMs = 2 ** 30;

export interface KeepFreshSettings {
  /** All lists. */
  lists(): Iterable<ServerList>;
  now(): number;
}

/**
 * Reads lists in the background: when their server connects or reports a change, when they expire, and after a
 * failure. Each list decides when it is due (`ServerList.dueAt`); this has the one timer for all of them.
 */
export class KeepFresh {
  readonly #settings: KeepFreshSettings;
  #timer: NodeJS.Timeout | undefined;
  #timerDueAt = Infinity;

  constructor(settings: KeepFreshSettings) {
    this.#settings = settings;
  }

  /** Call whenever the state of a list changed. */
  look(list: ServerList): void {
    const { dueAt } = list;
    if (dueAt <= this.#settings.now()) list.readBehind();
    else this.#wakeAt(dueAt);
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #wakeAt(dueAt: number): void {
    if (dueAt >= this.#timerDueAt) return;
    clearTimeout(this.#timer);
    this.#timerDueAt = dueAt;
    const waitMs = Math.min(maxTimerMs, Math.max(1, dueAt - this.#settings.now()));
    this.#timer = setTimeout(() => this.#sweep(), waitMs);
    this.#timer.unref();
  }

  #sweep(): void {
    this.#timerDueAt = Infinity;
    for (const list of this.#settings.lists()) this.look(list);
  }
}
