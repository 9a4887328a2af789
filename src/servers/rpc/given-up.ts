import type { Listener } from "./inbound.ts";

interface GivenUp {
  listener: Listener;
  at: number;
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
    this.#byId.set(id, { listener, at });
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

  /** Those whom the server may still be asking. */
  since(now: number): Listener[] {
    const all = [...this.#byId.values(), ...this.#dropped.values()];
    return all.filter(({ at }) => at >= now - afterthoughtMs).map(({ listener }) => listener);
  }

  clear(): void {
    this.#byId.clear();
    this.#dropped.clear();
  }
}
