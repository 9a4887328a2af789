import { isPlugboardError } from "../errors.ts";
import { isRecord } from "../lib/record.ts";
import { refutesLegacy } from "./era.ts";
import type { ProbeOutcome } from "./era.ts";
import type { JsonRpcAnswer } from "./rpc/lane-messages.ts";

/** Some refusals carry a JSON-RPC answer that says more than their status does. */
export function answerInRefusal(error: unknown): JsonRpcAnswer {
  const { code, message = "", supported } = rpcErrorIn(error);
  if (code === undefined || !refutesLegacy(code)) throw error;
  return { error: { code, message, ...(supported && { data: { supported } }) } };
}

/**
 * A refused probe over HTTP. 401 and 403 are about credentials, not about eras; a host that cannot be reached is no
 * evidence either. Everything else, a 5xx or a connection cut after the question too, gets one try as legacy.
 */
export function httpRefusal(error: unknown): ProbeOutcome {
  const status = statusOf(error);
  const wasCut = isPlugboardError(error, "connection-lost") && error.data?.["sent"] === true;
  if (wasCut) return { kind: "refused" };
  if (status === undefined || status === 401 || status === 403) throw error;
  const { code, supported } = rpcErrorIn(error);
  return { kind: "refused", ...(code !== undefined && { code }), ...(supported && { supported }) };
}

function statusOf(error: unknown): number | undefined {
  const data: unknown =
    isRecord(error) || error instanceof Error ? (error as { data?: unknown }).data : undefined;
  const status = isRecord(data) ? data["status"] : undefined;
  if (typeof status === "number") return status;
  return error instanceof Error && error.cause !== undefined ? statusOf(error.cause) : undefined;
}

function rpcErrorIn(error: unknown): { code?: number; message?: string; supported?: readonly string[] } {
  const text = (error as { data?: { text?: unknown } }).data?.text;
  if (typeof text !== "string") return {};
  try {
    const body = JSON.parse(text) as {
      error?: { code?: unknown; message?: unknown; data?: { supported?: unknown } };
    };
    const { code, message, data } = body.error ?? {};
    return {
      ...(typeof code === "number" && { code }),
      ...(typeof message === "string" && { message }),
      ...(Array.isArray(data?.supported) && { supported: data.supported.map(String) }),
    };
  } catch {
    return {};
  }
}
