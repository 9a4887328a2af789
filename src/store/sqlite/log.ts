import { checkKey, encodeValues, maxRead } from "../entry.ts";
import { classifyFailure } from "../error.ts";
import type { Log } from "../store.ts";
import { parseExact } from "../../lib/exact-json.ts";
import type { Statements } from "./run.ts";

/** Logs in the file. `logs` keeps the last number of each, also when all of its entries were removed. */
export function createLogTable({ run, together }: Statements, path: string): Log {
  const extentOf = (name: string) => {
    const [row] = run(selectExtent, name);
    const last = Number(row?.["last"] ?? 0);
    return { first: last === 0 ? 0 : Number(row?.["first"] ?? last + 1), last };
  };
  return {
    async append(name, values) {
      checkKey(name);
      const texts = encodeValues(name, values);
      if (texts.length === 0) return extentOf(name).last;
      return together(() => {
        const [row] = run(claim, name, texts.length);
        const last = Number(row?.["last"]);
        texts.forEach((text, index) => run(insert, name, last - texts.length + 1 + index, text));
        return last;
      });
    },
    async read(name, { after = 0, limit = maxRead } = {}) {
      checkKey(name);
      const rows = run(selectRange, name, after, Math.max(0, Math.min(limit, maxRead)));
      return rows.map((row) => ({
        number: Number(row["number"]),
        value: decode(String(row["value"]), path),
      }));
    },
    async trim(name, through) {
      checkKey(name);
      return run(remove, name, Math.floor(through)).length;
    },
    async extent(name) {
      checkKey(name);
      return extentOf(name);
    },
  };
}

function decode(text: string, path: string): unknown {
  try {
    return parseExact(text);
  } catch (error) {
    throw classifyFailure(error, path);
  }
}

const claim = `INSERT INTO logs (name, last) VALUES (?1, ?2)
  ON CONFLICT (name) DO UPDATE SET last = last + ?2 RETURNING last`;
const insert = "INSERT INTO log_entries (log, number, value) VALUES (?, ?, ?)";
const selectRange =
  "SELECT number, value FROM log_entries WHERE log = ? AND number > ? ORDER BY number LIMIT ?";
const remove = "DELETE FROM log_entries WHERE log = ? AND number <= ? RETURNING 1";
const selectExtent = `SELECT last, (SELECT min(number) FROM log_entries WHERE log = ?1) AS first
  FROM logs WHERE name = ?1`;
