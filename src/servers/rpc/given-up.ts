import type { Listener } from "./inbound.ts";

interface GivenUp {
  listener: Listener;
  at: number;
  /** Set once the server has answered a request that was sent later: it has read that this one was given up. */
  isRead?: true;
}

const maxRemembered = 1024;
/** For how long a server may still ask about a request that was given up: as long as a call may take. */
const afterthoughtMs = 600_000;

/** Requests given up by timeout or cancellation that the server has not answered since. Bounded. */
export class GivenUpRequests {
  readonly #byId = new Map<string, GivenUp>();
  /** One of each person whose ids were dropped, so that nobody can push others out. */
  readonly #dropped = new Map<unknown, GivenUp>();

  add(id: string, listener: Listener, at: number): void {
    this.#byId.set(id, { listener: identityOf(listener), at });
    if (this.#byId.size <= maxRemembered) return;
    for (const [oldest, given] of this.#byId) {
      this.#byId.delete(oldest);
      const { onQuestion, caller, answeredBy } = given.listener;
      if (onQuestion && this.#dropped.size < maxRemembered) this.#dropped.set(caller ?? answeredBy, given);
      return;
    }
  }

  /** True when the answer to one of them came late. */
  delete(id: string): boolean {
    return this.#byId.delete(id);
  }

  /** The server has answered a request that was sent after all of these were given up. */
  markRead(): void {
    for (const given of this.#byId.values()) given.isRead = true;
  }

  /** Those whom the server may still be asking. */
  within(now: number): Listener[] {
    const all = [...this.#byId.values(), ...this.#dropped.values()];
    return all.filter(({ at }) => at >= now - afterthoughtMs).map(({ listener }) => listener);
  }

  /** Those whom the server may have asked before it read that they were given up. */
  unread(now: number, ms: number): Listener[] {
    const all = [...this.#byId.values()];
    return all.filter(({ at, isRead }) => !isRead && at >= now - ms).map(({ listener }) => listener);
  }

  clear(): void {
    this.#byId.clear();
    this.#dropped.clear();
  }
}

/**
 * Who is behind a request, without the request: its functions hold on to everything that was part of it, for as long as
 * this is remembered. Functions that were made for one call never tell who somebody is.
 */
function identityOf({ answeredBy, caller, exclusive, onQuestion }: Listener): Listener {
  return {
    caller,
    exclusive,
    answeredBy: typeof answeredBy === "function" ? unanswered : answeredBy,
    onQuestion: onQuestion && unanswered,
  };
}

const unanswered = () => Promise.reject(new Error("The request is over"));
