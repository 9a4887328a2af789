import { untilAborted } from "../../lib/abortable.ts";
import { startDeadline } from "../../lib/deadline.ts";
import type { Authentication } from "./authentication.ts";
import type { Incoming } from "./incoming.ts";

const atOnce = 50;
/** Without an answer after that long, nobody is known to be the caller. */
const patienceMs = 10_000;

interface Standing {
  incoming: Incoming;
  end(): void;
}

/**
 * Streams that stay open when their request is long over. Their sender is authenticated again from time to time, so that
 * none outlives the login or the key that opened it.
 */
export class StandingStreams {
  readonly #authenticate: Authentication;
  readonly #everyMs: number;
  readonly #open = new Set<Standing>();
  #timer: NodeJS.Timeout | undefined;

  constructor(authenticate: Authentication, everyMs: number) {
    this.#authenticate = authenticate;
    this.#everyMs = everyMs;
  }

  /** `end` is called once the sender is no longer the same caller. Returns how to forget the stream. */
  add(incoming: Incoming, end: () => void): () => void {
    const standing = { incoming, end };
    this.#open.add(standing);
    this.#wait();
    return () => {
      this.#open.delete(standing);
      if (this.#open.size === 0) this.close();
    };
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #wait(): void {
    this.#timer ??= setTimeout(() => void this.#look(), this.#everyMs).unref();
  }

  /** A few at a time: what decides about callers is not asked about thousands at once. */
  async #look(): Promise<void> {
    const open = [...this.#open];
    for (let first = 0; first < open.length; first += atOnce)
      await Promise.all(open.slice(first, first + atOnce).map((standing) => this.#check(standing)));
    this.#timer = undefined;
    if (this.#open.size > 0) this.#wait();
  }

  async #check(standing: Standing): Promise<void> {
    if (!this.#open.has(standing) || (await this.#isSame(standing.incoming))) return;
    if (this.#open.delete(standing)) standing.end();
  }

  async #isSame({ request, caller }: Incoming): Promise<boolean> {
    try {
      const asked = this.#authenticate(request);
      if (!(asked instanceof Promise)) return asked === caller;
      using deadline = startDeadline(patienceMs);
      return (await untilAborted(asked, deadline.signal)) === caller;
    } catch {
      // Who it is cannot be told, so it is nobody.
      return false;
    }
  }
}
