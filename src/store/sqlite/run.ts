import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite";
import { classifyFailure } from "../error.ts";

export type Row = Record<string, SQLOutputValue>;

/** Runs one statement to its end and answers its rows; statements are prepared at their first use. */
export type Run = (sql: string, ...values: SQLInputValue[]) => Row[];

export function createRun(database: DatabaseSync, path: string, closing: AbortSignal): Run {
  const statements = new Map<string, StatementSync>();
  return (sql, ...values) => {
    closing.throwIfAborted();
    try {
      let statement = statements.get(sql);
      if (!statement) statements.set(sql, (statement = database.prepare(sql)));
      // Not `get`: it stops at the first row and resets, and a commit that fails in a reset goes unnoticed.
      return statement.all(...values);
    } catch (error) {
      throw classifyFailure(error, path);
    }
  };
}
