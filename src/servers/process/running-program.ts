import type { Readable, Writable } from "node:stream";
import type { ExitStatus } from "./server-process.ts";

/** A server's program while it runs: a child of this process, or one that the broker of warm servers holds. */
export interface RunningProgram {
  readonly pid: number;
  readonly stdin: Writable | null;
  readonly stdout: Readable | null;
  readonly stderr: Readable | null;
  readonly exit: ExitStatus | undefined;
  /** Settles when the program itself exited; its descendants may still hold its pipes. */
  readonly exited: Promise<ExitStatus>;
  /** True if whoever holds it is gone, so that nobody knows how it ended. */
  readonly isCutOff?: boolean;
  /** Ends it and everything that it started. Settles when nothing is left. */
  stop(): Promise<void>;
  /** Present if the program may stay for the next command. */
  readonly warm?: WarmUse | undefined;
}

/** One use of a program that may stay. */
export interface WarmUse {
  /** What the last use left; absent if the program was started for this one. */
  readonly kept: KeptSession | undefined;
  /** Lets the program wait for its next use, if `isAtRest` says so after all of its output was read. */
  giveBack(session: KeptSession, isAtRest: () => boolean): Promise<void>;
}

/** What the next use of a program has to know about its session. */
export interface KeptSession {
  /** What the server said about itself in the handshake. */
  greeting: Record<string, unknown>;
  /** How many requests it has got; the ids of the next use continue there. */
  issued: number;
  /** A request that a healthy server answers at once. */
  fence: { method: string; params: Record<string, unknown> };
}

/** Starts programs, and ends them when it is closed. */
export interface ProgramStarter<Program> {
  spawn(program: Program): Promise<RunningProgram>;
}
