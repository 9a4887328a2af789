import { isRecord } from "../../lib/record.ts";
import type { KeptSession } from "../process/running-program.ts";
import type { SandboxSetting } from "../process/sandbox.ts";

/** How to start a program, complete: the broker adds nothing of its own environment. */
export interface WarmProgram {
  server: string;
  command: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  umask: number;
  sandbox?: SandboxSetting | undefined;
}

/** What a command says. The first message decides what the connection is for; `pause`, `release` and `end` follow an `attach`. */
export type CommandMessage =
  | {
      type: "attach";
      key: string;
      program: WarmProgram;
      keepMs: number;
      /** What the program would inherit from the command; the broker refuses if it would inherit something else. */
      surroundings: string;
      /** The names of the secrets that its entry refers to. */
      secrets: readonly string[];
    }
  /** Send no more output. The answer comes after all that was sent. */
  | { type: "pause" }
  | { type: "release"; session: KeptSession }
  | { type: "end" }
  | { type: "list" }
  /** Those of these servers, or those that use this secret; all if neither is named. */
  | ({ type: "stop" } & Selection)
  /** Take no more uses, and end when the present ones have ended. */
  | { type: "drain" };

export interface Selection {
  servers?: readonly string[];
  secret?: string;
}

export type BrokerMessage =
  /** The first message was understood; the answer may take longer. */
  | { type: "working" }
  | { type: "attached"; pid: number; kept?: KeptSession }
  /** The broker has no room, or is draining. */
  | { type: "refused" }
  /** The program could not be started; `error` is a `PlugboardError` as JSON. */
  | { type: "failed"; error: Record<string, unknown> }
  | { type: "exited"; code: number | null; signal: NodeJS.Signals | null }
  | { type: "paused" }
  /** The answer to `end`. The connection closes when nothing is left. */
  | { type: "ending" }
  | { type: "released"; isKept: boolean }
  | { type: "processes"; processes: WarmProcess[] };

/** A process that the broker holds, for people. */
export interface WarmProcess {
  server: string;
  pid: number;
  cwd: string;
  /** Milliseconds since the epoch. */
  startedAt: number;
  state: "in-use" | "waiting" | "ending";
  /** When it ends if nobody uses it; only while it waits. */
  endsAt?: number;
  /** How many commands have used it. */
  uses: number;
}

/** Both sides are the same user's, but not always the same version: what cannot be understood is undefined. */
export function parseMessage(bytes: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return isRecord(value) && typeof value["type"] === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}

export function readCommand(bytes: Buffer): CommandMessage | undefined {
  const message = parseMessage(bytes);
  switch (message?.["type"]) {
    case "attach": {
      const { key, keepMs, program, surroundings, secrets } = message;
      const isWhole = typeof keepMs === "number" && isTexts([key, surroundings]) && isTexts(secrets);
      if (!isProgram(program)) return undefined;
      return isWhole ? (message as CommandMessage) : undefined;
    }
    case "release":
      return isSession(message["session"]) ? { type: "release", session: message["session"] } : undefined;
    case "stop": {
      const { servers, secret } = message;
      if (secret !== undefined) return typeof secret === "string" ? { type: "stop", secret } : undefined;
      if (servers === undefined) return { type: "stop" };
      return isTexts(servers) ? { type: "stop", servers } : undefined;
    }
    case "pause":
    case "end":
    case "list":
    case "drain":
      return message as CommandMessage;
    default:
      return undefined;
  }
}

export function readProcesses(message: Record<string, unknown> | undefined): WarmProcess[] {
  const processes = message?.["processes"];
  return Array.isArray(processes) ? processes.filter(isProcess) : [];
}

function isProcess(value: unknown): value is WarmProcess {
  if (!isRecord(value)) return false;
  const { server, pid, cwd, startedAt, uses, endsAt, state } = value;
  const isText = isTexts([server, cwd, state]);
  const areNumbers = [pid, startedAt, uses].every((one) => typeof one === "number");
  return isText && areNumbers && (endsAt === undefined || typeof endsAt === "number");
}

export function isSession(value: unknown): value is KeptSession {
  if (!isRecord(value)) return false;
  const { greeting, issued, fence } = value;
  return isRecord(greeting) && Number.isSafeInteger(issued) && isRecord(fence);
}

function isProgram(value: unknown): value is WarmProgram {
  if (!isRecord(value) || !isRecord(value["env"]) || !isTexts(value["args"])) return false;
  const { umask } = value;
  if (!Number.isInteger(umask) || Number(umask) < 0 || Number(umask) > 0o777) return false;
  const texts = [value["server"], value["command"], value["cwd"], ...Object.values(value["env"])];
  return isTexts(texts);
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}
