import { PlugboardError } from "../errors.ts";

/** What may end something early. A listener costs less than the signal, which is made when somebody asks for it. */
export interface Cancellation {
  readonly signal: AbortSignal;
  /** Calls the listener then, or at once if that has happened. Returns how to end that. */
  onCancelled(listener: () => void): () => void;
}

/** Stops waiting for `work` when the signal is aborted. The work itself goes on, because others may wait for it too. */
export async function abortable<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  server: string,
): Promise<T> {
  if (!signal) return work;
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(waitCancelled(signal, server));
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  return Promise.race([work, promise]).finally(() => signal.removeEventListener("abort", onAbort));
}

export function waitCancelled(signal: AbortSignal, server: string): PlugboardError {
  const message = `Waiting for "${server}" was cancelled.`;
  return new PlugboardError("call-cancelled", message, { server, cause: signal.reason, executed: "no" });
}

/** Settles like `work`, or rejects with the signal's reason if the signal is aborted first. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason as Error);
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  return Promise.race([work, promise]).finally(() => signal.removeEventListener("abort", onAbort));
}
