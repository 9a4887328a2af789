import { expiresAt } from "../entry.ts";
import { currentHolder, isGone, type Holder } from "../holder.ts";
import type { Row, Run } from "./run.ts";
import type { Clock, Lease } from "../store.ts";

export interface LeaseTable {
  tryAcquire(name: string, ttlMs: number): Lease | undefined;
  /** Releases all leases. */
  close(): void;
}

/** The leases of one open store; `owner` identifies the store. */
export function createLeaseTable(run: Run, now: Clock, owner: string): LeaseTable {
  let here: Holder | undefined;
  let isOpen = true;

  return {
    tryAcquire(name, ttlMs) {
      here ??= currentHolder();
      const [seen] = run(select, name);
      if (seen && isHeld(seen, here)) return undefined;
      const [taken] = run(
        takeOver,
        name,
        Math.floor(now()),
        owner,
        here.pid,
        here.started,
        here.place,
        expiresAt(ttlMs, now),
        seen?.["fence"] ?? null,
        seen?.["owner"] ?? null,
        seen?.["expires_at"] ?? null,
      );
      return taken && toLease(name, Number(taken["fence"]), ttlMs);
    },
    close() {
      isOpen = false;
      if (!here) return;
      try {
        run("UPDATE leases SET owner = NULL WHERE owner = ?", owner);
      } catch {
        // Processes that wait for the leases get them when they expire.
      }
    },
  };

  function isHeld(row: Row, here: Holder): boolean {
    if (row["owner"] === null || Number(row["expires_at"]) <= now()) return false;
    return !isGone(
      { pid: Number(row["pid"]), started: String(row["started"]), place: String(row["place"]) },
      here,
    );
  }

  function toLease(name: string, fence: number, ttlMs: number): Lease {
    return {
      name,
      fence,
      renew: async () => run(renew, expiresAt(ttlMs, now), name, fence, owner).length === 1,
      release: async () => {
        if (isOpen) run(release, name, fence, owner);
      },
    };
  }
}

const select = "SELECT fence, owner, pid, started, place, expires_at FROM leases WHERE name = ?";
// Only if the row has not changed since it was read. The first fence comes from the clock, so that it is larger than
// earlier ones even if the file was lost.
const takeOver = `INSERT INTO leases (name, fence, owner, pid, started, place, expires_at)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
  ON CONFLICT (name) DO UPDATE SET fence = leases.fence + 1, owner = excluded.owner, pid = excluded.pid,
    started = excluded.started, place = excluded.place, expires_at = excluded.expires_at
  WHERE leases.fence = ?8 AND leases.owner IS ?9 AND leases.expires_at = ?10
  RETURNING fence`;
const renew = "UPDATE leases SET expires_at = ? WHERE name = ? AND fence = ? AND owner = ? RETURNING fence";
const release = "UPDATE leases SET owner = NULL WHERE name = ? AND fence = ? AND owner = ?";
