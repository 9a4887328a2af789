import type { SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite";
import { classifyFailure } from "../error.ts";
import { openFile } from "./open.ts";
import type { OpenFile } from "./open.ts";

export type Row = Record<string, SQLOutputValue>;

/** Runs one statement to completion and returns its rows. Statements are prepared on first use. */
export type Run = (sql: string, ...values: SQLInputValue[]) => Row[];

export interface Statements {
  run: Run;
  /** Runs statements as one: all of them take effect or none. */
  together<T>(work: () => T): T;
  /** Another number once another file was opened. */
  readonly generation: number;
  close(): void;
}

/** Runs statements in the file at `path`: if the open one was deleted or moved, in the one that other processes open now. */
export function createRun(first: OpenFile, path: string, closing: AbortSignal): Statements {
  const statements = new Map<string, StatementSync>();
  let file: OpenFile | undefined = first;
  let generation = 0;
  let isTogether = false;

  const close = () => {
    statements.clear();
    file?.database.close();
    file = undefined;
  };

  const run: Run = (sql, ...values) => {
    closing.throwIfAborted();
    try {
      // Closed before another is opened, because SQLite's side files have the same names.
      if (file && !isTogether && !file.isCurrent()) close();
      if (!file) {
        file = openFile(path);
        generation++;
      }
      let statement = statements.get(sql);
      if (!statement) statements.set(sql, (statement = file.database.prepare(sql)));
      // Not `get`: it resets after the first row, and a commit that fails during the reset is not reported.
      return statement.all(...values);
    } catch (error) {
      throw classifyFailure(error, path);
    }
  };

  const together = <T>(work: () => T): T => {
    run("BEGIN IMMEDIATE");
    isTogether = true;
    try {
      const result = work();
      run("COMMIT");
      return result;
    } catch (error) {
      // SQLite may have done so by itself.
      if (file?.database.isTransaction !== false) ignoreFailure(() => run("ROLLBACK"));
      throw error;
    } finally {
      isTogether = false;
    }
  };

  return {
    run,
    together,
    get generation() {
      return generation;
    },
    close,
  };
}

function ignoreFailure(work: () => void): void {
  try {
    work();
  } catch {
    // What failed before is what counts.
  }
}
