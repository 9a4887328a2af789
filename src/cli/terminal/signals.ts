const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** The command was interrupted by a signal; the exit code follows the shell convention. */
export class Interrupted extends Error {
  readonly exitCode: number;

  constructor(signal: keyof typeof signals) {
    super(`interrupted by ${signal}`);
    this.exitCode = signals[signal];
  }
}

export interface CaughtSignals extends Disposable {
  /** Aborted with an `Interrupted`. */
  signal: AbortSignal;
}

/** The first signal asks for a clean exit; the second one exits at once. */
export function catchProcessSignals(beforeExit: () => void): CaughtSignals {
  const abort = new AbortController();
  const listeners = (Object.keys(signals) as (keyof typeof signals)[]).map((name) => {
    const listener = () => {
      if (abort.signal.aborted) {
        beforeExit();
        process.exit(signals[name]);
      }
      abort.abort(new Interrupted(name));
    };
    process.on(name, listener);
    return () => process.off(name, listener);
  });
  return {
    signal: abort.signal,
    [Symbol.dispose]: () => {
      for (const stop of listeners) stop();
    },
  };
}

/** Resolves when the signal is aborted. */
export async function whenAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}
