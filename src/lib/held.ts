import type { PlugboardError } from "../errors.ts";

/** A lock while it is held. */
export interface Held {
  /** Aborted when the lock is lost, or when its owner closes: stop making changes. */
  readonly signal: AbortSignal;
  /** Why the lock keeps out only the rest of this process; absent if it keeps out all that share what is locked. */
  readonly onlyHere?: PlugboardError | undefined;
  /**
   * Rejects if the lock is lost, and extends it otherwise. `signal` alone comes too late in a process that was
   * suspended. Absent if the lock cannot be lost.
   */
  confirm?(): Promise<void>;
}

/** Rejects unless nobody else can be writing now. Call it directly before a change to something that others change too. */
export async function assertHeld(held: Held): Promise<void> {
  await assertNotLost(held);
  if (held.onlyHere) throw held.onlyHere;
}

/** Rejects if another process may have taken the lock over. */
export async function assertNotLost({ signal, confirm }: Held): Promise<void> {
  signal.throwIfAborted();
  await confirm?.();
}
