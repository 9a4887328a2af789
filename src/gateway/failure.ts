import { errorTable } from "../host.ts";
import { PlugboardError, Refusal } from "../index.ts";
import type { JsonRpcAnswer } from "../host.ts";
import { modelMessage } from "../lib/model-advice.ts";
import type { RpcFailure } from "./exchange.ts";

/** An error of ours that a client gets as it is. */
export class Failure extends Error {
  readonly failure: RpcFailure;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.failure = { code, message, ...(data !== undefined && { data }) };
  }
}

export const invalidParams = (message: string, data?: unknown): Failure =>
  new Failure(-32_602, message, data);

export const methodNotFound = (method: string): Failure =>
  new Failure(-32_601, `Method not found: ${method.slice(0, 100)}`);

/** Turns whatever went wrong into an answer. Nothing of an unexpected error is told. */
export function failed(error: unknown): { error: RpcFailure } {
  if (error instanceof Failure) return { error: error.failure };
  if (error instanceof Refusal) return { error: { code: error.code, message: error.message } };
  if (!(error instanceof PlugboardError)) return { error: { code: -32_603, message: "Internal error" } };
  return { error: describe(error) };
}

/** The same for a call of a tool: what a model can act on is a result, not a protocol error. */
export function failedCall(error: unknown): JsonRpcAnswer {
  if (!(error instanceof PlugboardError) || errorTable[error.code].shownAs === "error") return failed(error);
  const { message, data } = describe(error);
  return {
    result: {
      content: [{ type: "text", text: message }],
      isError: true,
      _meta: { "plugboard/error": data },
    },
  };
}

function describe(error: PlugboardError): RpcFailure {
  const { code, server, executed, retryAfterMs } = error;
  const near = error.data?.["near"];
  return {
    code: errorTable[code].rpcCode,
    message: modelMessage(error),
    data: {
      code,
      ...(server !== undefined && { server }),
      ...(executed !== undefined && { executed }),
      // A client that is an agent stops here.
      ...(error.endsTurn && { reason: error.reason }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      ...(Array.isArray(near) && { near }),
    },
  };
}
