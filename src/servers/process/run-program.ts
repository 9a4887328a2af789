import type { Environment } from "../../lib/folders.ts";
import { isPlugboardError } from "../../errors.ts";
import { startDeadline } from "../../lib/deadline.ts";
import { ProcessTree } from "./process-tree.ts";

/** Which program is run, and within which limits. */
interface ProgramRun {
  command: string;
  args: readonly string[];
  cwd: string;
  /** It gets all of it. */
  env: Environment;
  timeoutMs: number;
  maxBytes: number;
  signal?: AbortSignal | undefined;
}

interface ProgramEnd {
  /** Null if it was ended by a signal, or did not end in time. */
  code: number | null;
  /** What it printed, at most so many bytes. */
  text: string;
  isTimedOut: boolean;
}

/**
 * Runs a program to its end, with nothing to read. It is ended with everything that it started if it takes too long,
 * and when this process ends. Undefined if there is no such program.
 */
export async function runProgram(run: ProgramRun): Promise<ProgramEnd | undefined> {
  const { command, args, cwd, env, timeoutMs, maxBytes, signal } = run;
  const tree = new ProcessTree({ env });
  using deadline = startDeadline(timeoutMs);
  const { promise: stopped, resolve } = Promise.withResolvers<undefined>();
  const stop = () => resolve(undefined);
  for (const one of [deadline.signal, signal]) one?.addEventListener("abort", stop, { once: true });
  try {
    const child = await tree.spawn({ server: command, command, args, cwd, inheritEnv: ["*"] });
    const chunks: Buffer[] = [];
    let bytes = 0;
    const collect = (chunk: Buffer) => {
      if (bytes < maxBytes) chunks.push(chunk.subarray(0, maxBytes - bytes));
      bytes += chunk.length;
    };
    child.stdout?.on("data", collect);
    child.stderr?.on("data", collect);
    child.stdin?.on("error", () => undefined).end();
    const exit = await Promise.race([child.exited, stopped]);
    await tree.close();
    signal?.removeEventListener("abort", stop);
    signal?.throwIfAborted();
    const text = Buffer.concat(chunks).toString("utf8");
    return { code: exit?.code ?? null, text, isTimedOut: exit === undefined };
  } catch (error) {
    if (isPlugboardError(error, "spawn-failed")) return undefined;
    throw error;
  } finally {
    await tree.close();
  }
}
