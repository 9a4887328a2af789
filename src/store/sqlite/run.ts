import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite";
import { classifyFailure } from "../error.ts";

export type Row = Record<string, SQLOutputValue>;

/** Runs one statement to completion and returns its rows. Statements are prepared on first use. */
export type Run = (sql: string, ...values: SQLInputValue[]) => Row[];

export function createRun(database: DatabaseSync, path: string, closing: AbortSignal): Run {
  const statements = new Map<string, StatementSync>();
  return (sql, ...values) => {
    closing.throwIfAborted();
    try {
      let statement = statements.get(sql);
      if (!statement) statements.set(sql, (statement = database.prepare(sql)));
      // Not `get`: it resets after the first row, and a commit that fails during the reset is not reported.
      return statement.all(...values);
    } catch (error) {
      throw classifyFailure(error, path);
    }
  };
}
