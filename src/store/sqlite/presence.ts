import { checkKey, encodeValue, expiresAt } from "../entry.ts";
import { currentHolder, isGone } from "../holder.ts";
import type { Holder } from "../holder.ts";
import type { Clock, Presence } from "../store.ts";
import { parseExact } from "../../lib/exact-json.ts";
import type { Row, Run } from "./run.ts";

/** When a process without a sign of life counts as ended. Used only where its end cannot be seen, as on another machine. */
const lastsMs = 15_000;
const signMs = 5_000;

/** Who is there, in the file. `owner` identifies the store. */
export function createPresenceTable(run: Run, now: Clock, owner: string): Presence & { close(): void } {
  let here: Holder | undefined;
  const own = new Map<string, { group: string; text: string }>();
  let timer: NodeJS.Timeout | undefined;

  const write = (id: string, group: string, text: string) => {
    here ??= currentHolder();
    run(insert, group, id, text, owner, here.pid, here.started, here.place, expiresAt(lastsMs, now));
  };

  /** Written whole each time: the file may have been replaced meanwhile. */
  const signs = () => {
    for (const [id, { group, text }] of own) ignoreFailure(() => write(id, group, text));
  };

  const isThere = (row: Row | undefined): boolean => {
    if (!row) return false;
    here ??= currentHolder();
    const holder = { pid: Number(row["pid"]), started: String(row["started"]), place: String(row["place"]) };
    if (isGone(holder, here)) return false;
    const isVisible = holder.place === here.place && holder.started !== "";
    return isVisible || Number(row["expires_at"]) > now();
  };

  return {
    async announce(group, value) {
      checkKey(group);
      const id = process.getBuiltinModule("node:crypto").randomUUID();
      const text = encodeValue(group, value);
      write(id, group, text);
      own.set(id, { group, text });
      timer ??= setInterval(signs, signMs).unref();
      const leave = async () => {
        if (own.delete(id)) run(remove, group, id);
      };
      return { id, leave };
    },
    async members(group) {
      checkKey(group);
      const members: { id: string; value: unknown }[] = [];
      for (const row of run(selectAll, group)) {
        const id = String(row["id"]);
        if (isThere(row)) members.push({ id, value: parseExact(String(row["value"])) });
        // Its id is never used again.
        else ignoreFailure(() => run(remove, group, id));
      }
      return members;
    },
    async isPresent(group, id) {
      checkKey(group);
      return isThere(run(select, group, id)[0]);
    },
    close() {
      clearInterval(timer);
      own.clear();
      if (here) ignoreFailure(() => run("DELETE FROM present WHERE owner = ?", owner));
    },
  };
}

/** Others see the end of this process by themselves. */
function ignoreFailure(work: () => void): void {
  try {
    work();
  } catch {
    // See above.
  }
}

const insert = `INSERT OR REPLACE INTO present (name, id, value, owner, pid, started, place, expires_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;
const remove = "DELETE FROM present WHERE name = ? AND id = ?";
const select = "SELECT pid, started, place, expires_at FROM present WHERE name = ? AND id = ?";
const selectAll = "SELECT id, value, pid, started, place, expires_at FROM present WHERE name = ? ORDER BY id";
