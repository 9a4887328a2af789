const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** The command was interrupted by a signal; the exit code follows the shell convention. */
export class Interrupted extends Error {
  readonly exitCode: number;
  /** What did not happen, for the person who interrupted a question. */
  readonly note: string | undefined;

  constructor(signal: keyof typeof signals, note?: string) {
    super(`interrupted by ${signal}`);
    this.exitCode = signals[signal];
    this.note = note;
  }
}

/** Whoever gives up a question that the command cannot do without means the whole command. */
export function cancelled(): Interrupted {
  return new Interrupted("SIGINT", "Cancelled.");
}

/** Asks a question. If it is interrupted, the error says what was not done. */
export async function orCancelled<T>(asking: Promise<T>, note = "Nothing was written."): Promise<T> {
  return asking.catch((error: unknown) => {
    throw error instanceof Interrupted ? new Interrupted("SIGINT", `Cancelled. ${note}`) : error;
  });
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
