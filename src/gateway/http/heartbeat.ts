import { Slots } from "../../lib/transient.ts";

export interface Beating {
  /** Called at every beat while it is part of the heartbeat. */
  beat(): void;
}

/** One timer for everything that has to be done again and again. It runs only while there is something to do. */
export class Heartbeat {
  readonly #intervalMs: number;
  readonly #onError: (error: unknown) => void;
  readonly #members = new Slots<Beating>();
  #timer: NodeJS.Timeout | undefined;

  /** A member that fails does not stop the others. */
  constructor(intervalMs: number, onError: (error: unknown) => void) {
    this.#intervalMs = intervalMs;
    this.#onError = onError;
  }

  /** Returns the place by which it can be removed. */
  add(member: Beating): number {
    this.#timer ??= setInterval(() => this.#beat(), this.#intervalMs).unref();
    return this.#members.add(member);
  }

  remove(place: number): void {
    this.#members.remove(place);
  }

  #beat(): void {
    for (const member of this.#members) {
      try {
        member.beat();
      } catch (error) {
        this.#onError(error);
      }
    }
    if (this.#members.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
