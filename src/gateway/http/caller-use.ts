import type { GatewayLimits } from "./limits.ts";

type Used = "requests" | "streams" | "sessions";

/** How much each caller uses right now. A caller that uses nothing is not remembered. */
export class CallerUse {
  readonly #most: Record<Used, number>;
  readonly #callers = new Map<string, Record<Used, number>>();

  constructor({ requestsPerCaller, streamsPerCaller, sessionsPerCaller }: GatewayLimits) {
    this.#most = { requests: requestsPerCaller, streams: streamsPerCaller, sessions: sessionsPerCaller };
  }

  /** False if the caller has all that it may have. Otherwise `release` gives it back. */
  take(caller: string, what: Used): boolean {
    const used = this.#callers.get(caller);
    if ((used?.[what] ?? 0) >= this.#most[what]) return false;
    if (used) used[what]++;
    else this.#callers.set(caller, { requests: 0, streams: 0, sessions: 0, [what]: 1 });
    return true;
  }

  release(caller: string, what: Used): void {
    const used = this.#callers.get(caller);
    if (!used) return;
    used[what]--;
    if (used.requests + used.streams + used.sessions === 0) this.#callers.delete(caller);
  }

  get size(): number {
    return this.#callers.size;
  }
}
