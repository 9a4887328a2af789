import { isRecord } from "../../lib/record.ts";

export interface Progress {
  progress: number;
  total?: number;
  message?: string;
}

/** The server's own answer, untouched. */
export type JsonRpcAnswer =
  | { result: Record<string, unknown> }
  | { error: { code: number; message: string; data?: unknown } };

export interface LaneRequest {
  jsonrpc: "2.0";
  id: string;
  method: string;
  params: Record<string, unknown>;
}

/** Exactly one of result and error, in the right shape. `null` beside the other one is an old habit, not both. */
export function readAnswer(message: Record<string, unknown>): JsonRpcAnswer | undefined {
  const result = message["result"] ?? undefined;
  const error = message["error"] ?? undefined;
  if (message["jsonrpc"] !== "2.0" || (result === undefined) === (error === undefined)) return undefined;
  if (error === undefined) return isRecord(result) ? { result } : undefined;
  return isRpcError(error) ? { error } : undefined;
}

function isRpcError(value: unknown): value is { code: number; message: string; data?: unknown } {
  return isRecord(value) && typeof value["code"] === "number" && typeof value["message"] === "string";
}

export function readProgress(params: Record<string, unknown>): Progress | undefined {
  const { progress, total, message } = params;
  if (typeof progress !== "number") return undefined;
  return {
    progress,
    ...(typeof total === "number" && { total }),
    ...(typeof message === "string" && { message }),
  };
}
