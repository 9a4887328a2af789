/** A signal that is aborted after a while, unless the work that it limits is done before. */
export interface Deadline extends Disposable {
  signal: AbortSignal;
}

/**
 * Replaces `AbortSignal.timeout`, which cannot be ended. Node.js keeps such a signal until it fires if it is part of an
 * `AbortSignal.any`, and keeps that one forever if it is in turn part of another.
 */
export function startDeadline(ms: number): Deadline {
  const controller = new AbortController();
  const late = () =>
    controller.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError"));
  const timer = setTimeout(late, ms).unref();
  return { signal: controller.signal, [Symbol.dispose]: () => clearTimeout(timer) };
}
