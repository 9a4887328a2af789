import { checkKey, expiresAt } from "../entry.ts";
import type { Clock, Lease } from "../store.ts";

interface LeaseRow {
  fence: number;
  owner: string | undefined;
  expiresAt: number;
}

/** Leases within one process. */
export function createMemoryLeases(now: Clock, closing: AbortSignal) {
  const leases = new Map<string, LeaseRow>();
  return {
    tryAcquire(name: string, ttlMs: number): Lease | undefined {
      checkKey(name);
      const before = leases.get(name);
      if (before?.owner !== undefined && before.expiresAt > now()) return undefined;
      const owner = process.getBuiltinModule("node:crypto").randomUUID();
      // The first fence comes from the clock, so that it is larger than those of an earlier process.
      const row = {
        fence: before ? before.fence + 1 : Math.floor(now()),
        owner,
        expiresAt: expiresAt(ttlMs, now),
      };
      leases.set(name, row);
      const isOurs = () => leases.get(name)?.owner === owner;
      return {
        name,
        fence: row.fence,
        renew: async () => {
          closing.throwIfAborted();
          if (isOurs()) leases.set(name, { ...row, expiresAt: expiresAt(ttlMs, now) });
          return isOurs();
        },
        release: async () => {
          if (isOurs()) leases.set(name, { ...row, owner: undefined });
        },
      };
    },
    clear: () => leases.clear(),
  };
}
