import type { SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite";
import { classifyFailure } from "../error.ts";
import { openFile } from "./open.ts";
import type { OpenFile } from "./open.ts";

export type Row = Record<string, SQLOutputValue>;

/** Runs one statement to completion and returns its rows. Statements are prepared on first use. */
export type Run = (sql: string, ...values: SQLInputValue[]) => Row[];

/** Runs statements in the file at `path`: if the open one was deleted or moved, in the one that other processes open now. */
export function createRun(
  first: OpenFile,
  path: string,
  closing: AbortSignal,
): { run: Run; close: () => void } {
  const statements = new Map<string, StatementSync>();
  let file: OpenFile | undefined = first;

  const close = () => {
    statements.clear();
    file?.database.close();
    file = undefined;
  };

  const run: Run = (sql, ...values) => {
    closing.throwIfAborted();
    try {
      // Closed before another is opened, because SQLite's side files have the same names.
      if (file && !file.isCurrent()) close();
      file ??= openFile(path);
      let statement = statements.get(sql);
      if (!statement) statements.set(sql, (statement = file.database.prepare(sql)));
      // Not `get`: it resets after the first row, and a commit that fails during the reset is not reported.
      return statement.all(...values);
    } catch (error) {
      throw classifyFailure(error, path);
    }
  };

  return { run, close };
}
