import { byBytes, checkKey, checkWindow } from "../entry.ts";
import type { Clock, CounterState, Counters } from "../store.ts";

const sweepEvery = 1_000;

/** Counters within one process. */
export function createMemoryCounters(now: Clock, assertOpen: () => void): Counters & { clear(): void } {
  const counters = new Map<string, CounterState>();
  let additions = 0;
  const live = (name: string): CounterState | undefined => {
    const known = counters.get(name);
    if (!known || known.endsAt > now()) return known;
    counters.delete(name);
    return undefined;
  };

  return {
    async add(name, window, options = {}) {
      assertOpen();
      checkKey(name);
      const { endsAt, by, limit } = checkWindow(window, options, now);
      const known = live(name);
      if (known) known.endsAt = Math.min(known.endsAt, endsAt);
      const before = known ?? { total: 0, endsAt };
      const total = Math.max(0, before.total + by);
      if (by > 0 && total > limit) return { ...before, isAdded: false };
      const after = { total, endsAt: before.endsAt };
      counters.set(name, after);
      if (++additions % sweepEvery === 0) for (const other of counters.keys()) live(other);
      return { ...after, isAdded: true };
    },
    async list(prefix) {
      assertOpen();
      const names = [...counters.keys()].filter((name) => name.startsWith(prefix)).sort(byBytes);
      return names.flatMap((name) => {
        const found = live(name);
        return found ? [{ name, ...found }] : [];
      });
    },
    clear: () => counters.clear(),
  };
}
