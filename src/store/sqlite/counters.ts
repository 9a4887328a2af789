import { checkKey, checkWindow } from "../entry.ts";
import type { Clock, CounterState, Counters } from "../store.ts";
import type { Row, Run } from "./run.ts";

/** Counters in the file. Those whose windows have ended are removed now and then. */
export function createCounterTable(run: Run, now: Clock): Counters {
  let additions = 0;
  return {
    async add(name, window, options = {}) {
      checkKey(name);
      const { endsAt, by, limit } = checkWindow(window, options, now);
      const at = now();
      const most = by > 0 ? limit : Infinity;
      const [added] = run(add, name, by, endsAt, at, Number.isFinite(most) ? most : null);
      if (++additions % sweepEvery === 0) sweep(run, at);
      if (added) return { ...toState(added), isAdded: true };
      run(shorten, name, endsAt);
      const [known] = run(select, name, at);
      return { ...(known ? toState(known) : { total: 0, endsAt }), isAdded: false };
    },
    async list(prefix) {
      const rows = run(selectRange, prefix, now());
      return rows.map((row) => ({ name: String(row["name"]), ...toState(row) }));
    },
  };
}

const sweepEvery = 1_000;

function toState(row: Row): CounterState {
  return { total: Number(row["total"]), endsAt: Number(row["ends_at"]) };
}

function sweep(run: Run, at: number): void {
  try {
    run("DELETE FROM counters WHERE ends_at <= ?", at);
  } catch {
    // They count for nothing any more, and are removed another time.
  }
}

// ?1 name, ?2 by, ?3 end of a new window, ?4 now, ?5 limit or null
const add = `INSERT INTO counters (name, total, ends_at) SELECT ?1, max(0, ?2), ?3 WHERE
    ?5 IS NULL OR max(0, ?2) + ifnull((SELECT total FROM counters WHERE name = ?1 AND ends_at > ?4), 0) <= ?5
  ON CONFLICT (name) DO UPDATE SET
    total = max(0, iif(ends_at > ?4, total, 0) + ?2), ends_at = iif(ends_at > ?4, min(ends_at, ?3), ?3)
  RETURNING total, ends_at`;
// See `Counters`. Writes nothing where the clock was right.
const shorten = "UPDATE counters SET ends_at = ?2 WHERE name = ?1 AND ends_at > ?2";
const select = "SELECT total, ends_at FROM counters WHERE name = ? AND ends_at > ?";
const selectRange = `SELECT name, total, ends_at FROM counters
  WHERE name >= ?1 AND name < ?1 || CAST(x'ff' AS TEXT) AND ends_at > ?2 ORDER BY name`;
