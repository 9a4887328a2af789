import { PlugboardError } from "../errors.ts";
import { waitCancelled } from "../lib/abortable.ts";
import { startDeadline } from "../lib/deadline.ts";

/** A request's hold on what only one at a time may have. */
export interface Turn {
  /** True while others may have their turn in its place. */
  readonly isAside: boolean;
  /** Lets others go first until `back`. */
  stepAside(): void;
  /** Resolves when it is its turn again, or when waiting for that is of no use. */
  back(): Promise<void>;
  /** The request is over. */
  end(): void;
}

/** Requests over one connection of which, where that matters, one at a time is under way, in the order they came. */
export class Turns {
  readonly #server: string;
  readonly #longestMs: number;
  #underWay = 0;
  /** Each takes over the turn of whoever had it before. Those who come back go first. */
  readonly #waiting = new Set<() => void>();
  readonly #returning = new Set<() => void>();

  constructor(server: string, longestMs: number) {
    this.#server = server;
    this.#longestMs = longestMs;
  }

  /** Begins at once; those that wait for a turn wait for it, too. */
  begin(): Turn {
    this.#underWay++;
    return new HeldTurn(this);
  }

  /** Begins when nothing else is under way and nobody else came before. */
  async next(signal: AbortSignal | undefined): Promise<Turn> {
    if (this.#underWay === 0) return this.begin();
    await this.#wait(this.#waiting, signal);
    return new HeldTurn(this);
  }

  /** For turns: lets whoever is next go on. */
  leave(): void {
    if (--this.#underWay > 0) return;
    for (const line of [this.#returning, this.#waiting]) {
      for (const next of line) {
        line.delete(next);
        this.#underWay++;
        return next();
      }
    }
  }

  /** For turns: resolves when one that stepped aside has its turn again. Throws when that takes too long. */
  async comeBack(signal: AbortSignal): Promise<void> {
    if (this.#underWay > 0) await this.#wait(this.#returning, signal);
    else this.#underWay++;
  }

  async #wait(line: Set<() => void>, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) throw waitCancelled(signal, this.#server);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    using deadline = startDeadline(this.#longestMs);
    const giveUp = () => {
      if (!line.delete(resolve)) return;
      reject(signal?.aborted ? waitCancelled(signal, this.#server) : this.#tooLong());
    };
    line.add(resolve);
    deadline.signal.addEventListener("abort", giveUp, { once: true });
    signal?.addEventListener("abort", giveUp, { once: true });
    await promise.finally(() => signal?.removeEventListener("abort", giveUp));
  }

  #tooLong(): PlugboardError {
    const minutes = this.#longestMs / 60_000;
    const message = `Other requests to "${this.#server}" that may ask something did not end within ${minutes} minutes.`;
    return new PlugboardError("call-timeout", message, {
      server: this.#server,
      executed: "no",
      hint: "Answer or cancel the calls that are waiting for an answer.",
    });
  }
}

class HeldTurn implements Turn {
  isAside = false;
  #isOver = false;
  readonly #turns: Turns;
  #coming: Promise<void> | undefined;
  /** Most requests never step aside, so what ends their wait is made only then. */
  #over: AbortController | undefined;

  constructor(turns: Turns) {
    this.#turns = turns;
  }

  stepAside(): void {
    if (this.isAside || this.#isOver) return;
    this.isAside = true;
    this.#coming = undefined;
    this.#turns.leave();
  }

  async back(): Promise<void> {
    if (this.isAside) await (this.#coming ??= this.#comeBack());
  }

  end(): void {
    this.#isOver = true;
    this.#over?.abort();
    if (!this.isAside) this.#turns.leave();
  }

  async #comeBack(): Promise<void> {
    try {
      this.#over ??= new AbortController();
      await this.#turns.comeBack(this.#over.signal);
      this.isAside = false;
      if (this.#isOver) this.#turns.leave();
    } catch {
      // It is over, or has waited for as long as anybody does.
      this.#coming = undefined;
    }
  }
}
