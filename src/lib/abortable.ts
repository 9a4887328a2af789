import { PlugboardError } from "../errors.ts";

/** The caller's patience ends the caller's wait, not the start that others wait for too. */
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

/** The work, or the signal's reason when that comes first. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason as Error);
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  return Promise.race([work, promise]).finally(() => signal.removeEventListener("abort", onAbort));
}
