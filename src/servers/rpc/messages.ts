import { PlugboardError } from "../../errors.ts";
import { isRecord } from "../../lib/record.ts";
import { stringifyExact } from "../../lib/exact-json.ts";

/** What a server reports about a request that takes long. */
export interface Progress {
  progress: number;
  total?: number;
  message?: string;
  /** All the parameters that the server sent. */
  params?: Record<string, unknown>;
}

/** The server's answer, unchanged. */
export type JsonRpcAnswer = Origin &
  ({ result: Record<string, unknown> } | { error: { code: number; message: string; data?: unknown } });

interface Origin {
  /**
   * Set where an answer is not the end: a mark of what gave it, which `boundTo` takes, so that what belongs to it goes to
   * nothing else.
   */
  from?: string | undefined;
}

/** A result as the bytes that the server sent, for callers that forward it without parsing. */
export interface RawAnswer extends Origin {
  /** The JSON text of the result. */
  bytes: Buffer;
  /** Undefined if the result has none. */
  resultType: string | undefined;
  isError: boolean;
  /** True if `bytes` are so large that it is worth freeing them, and nothing else is in the same memory. */
  isAlone: boolean;
}

export interface RpcRequest {
  jsonrpc: "2.0";
  id: string;
  method: string;
  params: Record<string, unknown>;
}

export type RpcMessage =
  | RpcRequest
  | { jsonrpc: "2.0"; method: string; params: Record<string, unknown> }
  | { jsonrpc: "2.0"; id: string | number; result: Record<string, unknown> }
  | { jsonrpc: "2.0"; id: string | number; error: { code: number; message: string; data?: unknown } };

export function isRequest(message: RpcMessage): message is RpcRequest {
  return "method" in message && "id" in message;
}

/** Throws `usage-invalid` for values that JSON cannot represent, such as a bigint or a cycle. */
export function toJson(message: RpcMessage): string {
  try {
    return stringifyExact(message);
  } catch (cause) {
    throw unserializable(cause);
  }
}

/** The same for a call whose id is a plain word of ours: everything but its parameters is known. */
export function callJson({ id, params }: RpcRequest): string {
  try {
    return `{"jsonrpc":"2.0","id":"${id}","method":"tools/call","params":${stringifyExact(params)}}`;
  } catch (cause) {
    throw unserializable(cause);
  }
}

function unserializable(cause: unknown): PlugboardError {
  return new PlugboardError("usage-invalid", "The request cannot be serialized as JSON.", { cause });
}

/** Accepts exactly one of result and error, in the right shape. Some servers send `null` for the other one. */
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
    params,
  };
}
