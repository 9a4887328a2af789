import { untilAborted } from "../lib/abortable.ts";

const mostRemembered = 1_000;

/**
 * Which pages that servers sent people to are done. A server says so by `notifications/elicitation/complete`, before or
 * after somebody begins to wait for it.
 */
export class ElicitationCompletions {
  readonly #done = new Set<string>();
  readonly #waiting = new Map<string, Set<() => void>>();

  hear(server: string, params: Record<string, unknown>): void {
    const { elicitationId } = params;
    if (typeof elicitationId !== "string" || elicitationId.length > 1_000) return;
    const key = keyOf(server, elicitationId);
    this.#done.add(key);
    const [oldest] = this.#done;
    if (this.#done.size > mostRemembered && oldest !== undefined) this.#done.delete(oldest);
    for (const resolve of this.#waiting.get(key) ?? []) resolve();
  }

  /** Resolves when the server has said that this one is done; rejects with the signal's reason. */
  async wait(server: string, elicitationId: string, signal: AbortSignal): Promise<void> {
    const key = keyOf(server, elicitationId);
    if (this.#done.has(key)) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, waiting.add(resolve));
    try {
      await untilAborted(promise, signal);
    } finally {
      waiting.delete(resolve);
      if (waiting.size === 0) this.#waiting.delete(key);
    }
  }
}

function keyOf(server: string, elicitationId: string): string {
  return `${server}\n${elicitationId}`;
}
