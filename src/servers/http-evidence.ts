import { isPlugboardError } from "../errors.ts";
import { isRecord } from "../lib/record.ts";
import { refutesLegacy } from "./era.ts";
import type { ProbeOutcome } from "./era.ts";
import type { JsonRpcAnswer } from "./rpc/messages.ts";

/** Some refusals carry a JSON-RPC answer that says more than their status does. */
export function answerInRefusal(error: unknown): JsonRpcAnswer {
  const said = rpcErrorIn(error);
  if (!said || !refutesLegacy(said.code)) throw error;
  return { error: said };
}

/**
 * A refused probe over HTTP. 401 and 403 are about credentials, not about eras; a host that cannot be reached is no
 * evidence either. Everything else, a 5xx or a connection cut after the question too, gets one try as legacy.
 */
export function httpRefusal(error: unknown): ProbeOutcome {
  const wasCut = isPlugboardError(error, "connection-lost") && error.executed !== "no";
  if (wasCut) return { kind: "refused" };
  const status = statusIn(error);
  if (status === undefined || status === 401 || status === 403) throw error;
  const said = rpcErrorIn(error);
  const supported = isRecord(said?.data) ? said.data["supported"] : undefined;
  return {
    kind: "refused",
    ...(said && { code: said.code }),
    ...(Array.isArray(supported) && { supported: supported as string[] }),
  };
}

/**
 * True when the first request was refused in one of the ways in which servers that only know the older SSE
 * transport refuse a POST.
 */
export function shouldFallBackToSse(error: unknown): boolean {
  const status = isPlugboardError(error, "unexpected-response") ? statusIn(error) : undefined;
  return status !== undefined && [400, 404, 405, 406, 415].includes(status);
}

function statusIn(error: unknown): number | undefined {
  return isPlugboardError(error) ? error.data?.status : undefined;
}

/** Put there by the transport (`statusError`). */
function rpcErrorIn(error: unknown): { code: number; message: string; data?: unknown } | undefined {
  return isPlugboardError(error) ? error.data?.rpcError : undefined;
}
