import { isRecord } from "../../lib/record.ts";
import type { JsonRpcAnswer } from "../../servers/rpc/messages.ts";

/** The extension `io.modelcontextprotocol/tasks` of modern servers, or the tasks of the legacy revision 2025-11-25. */
export type TaskProtocol = "extension" | "2025-11-25";

const statuses = ["working", "input_required", "completed", "failed", "cancelled"] as const;
/** How far a task is, in the words of the protocol. */
export type TaskStatus = (typeof statuses)[number];

/** What a server says about a task, in the words of the extension. */
export interface TaskState {
  /** The server's own id. */
  taskId: string;
  status: TaskStatus;
  statusMessage?: string;
  createdAt?: string;
  lastUpdatedAt?: string;
  /** How long the server keeps it, from its creation; null if without limit. */
  ttlMs: number | null;
  pollIntervalMs?: number;
  /** What it wants to know, by key. Only of the extension. */
  inputRequests?: Record<string, unknown>;
  /** What the call came to, once it is over. Only of the extension. */
  result?: Record<string, unknown>;
  error?: RpcError;
}

export type RpcError = Extract<JsonRpcAnswer, { error: object }>["error"];

const longestId = 4096;

/** The task that a server made of a call. Undefined if the result is no task, or not a valid one. */
export function createdTask(result: Record<string, unknown>, protocol: TaskProtocol): TaskState | undefined {
  if (protocol === "extension")
    return result["resultType"] === "task" ? readTask(result, protocol) : undefined;
  return isRecord(result["task"]) ? readTask(result["task"], protocol) : undefined;
}

/** Reads what a server says about a task. Undefined if it makes no sense. */
export function readTask(value: Record<string, unknown>, protocol: TaskProtocol): TaskState | undefined {
  const { taskId, status, statusMessage, createdAt, lastUpdatedAt } = value;
  const isExtension = protocol === "extension";
  const ttl = value[isExtension ? "ttlMs" : "ttl"];
  const interval = value[isExtension ? "pollIntervalMs" : "pollInterval"];
  if (typeof taskId !== "string" || taskId === "" || taskId.length > longestId || !isStatus(status))
    return undefined;
  return {
    taskId,
    status,
    ...(typeof statusMessage === "string" && { statusMessage }),
    ...(typeof createdAt === "string" && { createdAt }),
    ...(typeof lastUpdatedAt === "string" && { lastUpdatedAt }),
    ttlMs: isDuration(ttl) ? ttl : null,
    ...(isDuration(interval) && { pollIntervalMs: interval }),
    ...(isExtension && payloadOf(status, value)),
  };
}

export function isOver({ status }: Pick<TaskState, "status">): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}

function payloadOf(status: TaskStatus, { inputRequests, result, error }: Record<string, unknown>) {
  if (status === "input_required") return { inputRequests: isRecord(inputRequests) ? inputRequests : {} };
  if (status === "completed" && isRecord(result)) return { result };
  if (status !== "failed") return {};
  const isSound =
    isRecord(error) && typeof error["code"] === "number" && typeof error["message"] === "string";
  return { error: isSound ? (error as unknown as RpcError) : { code: -32_603, message: "The task failed" } };
}

function isStatus(value: unknown): value is TaskStatus {
  return (statuses as readonly unknown[]).includes(value);
}

function isDuration(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && Number.isFinite(value);
}
