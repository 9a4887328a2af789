import { isPlugboardError } from "../../index.ts";
import type { PlugboardError } from "../../index.ts";

/** The calls that a model makes together. When a person ends the turn, none of them goes on and none begins. */
export class Turn {
  #ended: PlugboardError | undefined;
  readonly #stop = new AbortController();

  async run<T>(signal: AbortSignal | undefined, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#ended) throw this.#ended;
    try {
      return await call(signal ? AbortSignal.any([signal, this.#stop.signal]) : this.#stop.signal);
    } catch (error) {
      // A call that ends because of another one ends like it.
      if (this.#ended) throw this.#ended;
      if (endsTurn(error)) {
        this.#ended = error;
        this.#stop.abort(error);
      }
      throw error;
    }
  }
}

/** The turn of each step of an SDK, by an object that the SDK has one of for each step. */
export class Turns {
  readonly #turns = new WeakMap<object, Turn>();

  of(step: object): Turn {
    let turn = this.#turns.get(step);
    if (!turn) this.#turns.set(step, (turn = new Turn()));
    return turn;
  }
}

/** True if a person ended the whole turn: the model does not go on, whatever the program wants done with failures. */
export function endsTurn(error: unknown): error is PlugboardError {
  return isPlugboardError(error) && error.endsTurn;
}
