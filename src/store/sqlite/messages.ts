import { checkKey, encodeMessage } from "../entry.ts";
import { Subscribers } from "../subscribers.ts";
import type { Clock, Messages } from "../store.ts";
import type { Statements } from "./run.ts";

/** How often it is looked whether another process has written anything. Looking costs 5 µs; waking up costs more. */
const lookMs = 75;
/** How long messages are kept for listeners that are late. */
const keptMs = 60_000;
const keptLength = 8_388_608;
/** What a row takes besides its texts. */
const rowLength = 50;
const atOnce = 500;
const shrinkEvery = 100;

/**
 * Messages through a table of the file: SQLite cannot notify other processes. Listeners look at `data_version`, which
 * changes with every commit of another connection, and read the table only then.
 */
export function createMessageTable(statements: Statements, now: Clock): Messages & { close(): void } {
  const { run } = statements;
  const subscribers = new Subscribers();
  let heard = 0;
  let generation = 0;
  let version: unknown;
  let published = 0;
  let timer: NodeJS.Timeout | undefined;

  const last = () => Number(run(selectLast)[0]?.["last"] ?? 0);

  const stop = () => {
    clearInterval(timer);
    timer = undefined;
  };

  const start = () => {
    stop();
    heard = last();
    generation = statements.generation;
    timer = setInterval(() => look(false), lookMs).unref();
  };

  /** Tells of everything since the last time. */
  const hear = () => {
    // Another file numbers its messages from 1.
    if (statements.generation !== generation) {
      generation = statements.generation;
      heard = last();
      subscribers.dueMissed();
      subscribers.tell();
      return;
    }
    for (;;) {
      // Read before the messages: a smaller number that is not among them was removed.
      const written = last();
      // An earlier copy of the file was restored in its place.
      if (written < heard) {
        heard = written;
        subscribers.dueMissed();
      }
      const rows = run(selectNew, heard);
      const first = rows.length > 0 ? Number(rows[0]?.["number"]) : written + 1;
      if (first > heard + 1) {
        heard = first - 1;
        subscribers.dueMissed();
      }
      for (const row of rows) {
        heard = Number(row["number"]);
        subscribers.due(String(row["channel"]), String(row["message"]));
      }
      subscribers.tell();
      if (rows.length < atOnce) return;
    }
  };

  const look = (hasWritten: boolean) => {
    if (subscribers.isEmpty) {
      stop();
      return;
    }
    try {
      // Read before the table, so that a write in between is noticed the next time.
      const [row] = run("PRAGMA data_version");
      const isSame = row?.["data_version"] === version && statements.generation === generation;
      version = row?.["data_version"];
      if (hasWritten || !isSame) hear();
    } catch {
      // Looked at again soon; what is still there then is heard, and the rest is reported as missed.
      version = undefined;
    }
  };

  return {
    async publish(channel, message) {
      checkKey(channel);
      run(insert, channel, encodeMessage(channel, message), now());
      if (++published % shrinkEvery === 0) shrink(run, now);
      queueMicrotask(() => look(true));
    },
    async subscribe(channel, listener) {
      checkKey(channel);
      // What was published before is not for this one.
      if (timer && !subscribers.isEmpty) look(true);
      else start();
      return subscribers.add(channel, listener);
    },
    close() {
      stop();
      subscribers.clear();
    },
  };
}

/** Removes what is old or too much, the oldest first. */
function shrink(run: Statements["run"], now: Clock): void {
  try {
    run(deleteOld, now() - keptMs, keptLength);
  } catch {
    // The message before it was written, and the next one tries again.
  }
}

const insert = "INSERT INTO messages (channel, message, at) VALUES (?, ?, ?)";
const selectNew = `SELECT number, channel, message FROM messages WHERE number > ? ORDER BY number LIMIT ${atOnce}`;
const selectLast = "SELECT seq AS last FROM sqlite_sequence WHERE name = 'messages'";
const deleteOld = `DELETE FROM messages WHERE at <= ?1 OR number <= (
  SELECT number FROM (SELECT number, sum(length(channel) + length(message) + ${rowLength}) OVER (ORDER BY number DESC) AS total FROM messages)
  WHERE total > ?2 ORDER BY number DESC LIMIT 1)`;
