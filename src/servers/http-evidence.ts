import { isPlugboardError } from "../errors.ts";
import { isRecord } from "../lib/record.ts";
import { refutesLegacy } from "./era.ts";
import type { ProbeOutcome, Refused } from "./era.ts";
import type { JsonRpcAnswer } from "./rpc/messages.ts";

/** Some refusals contain a JSON-RPC answer that says more than the HTTP status. */
export function answerInRefusal(error: unknown): JsonRpcAnswer {
  const said = rpcErrorIn(error);
  if (!said || !refutesLegacy(said.code)) throw error;
  return { error: said };
}

/**
 * Interprets a refused probe over HTTP. 401 and 403 are about credentials, not eras, and an unreachable host is not
 * evidence either. Everything else gets one try as legacy; a 5xx or a connection that was cut after the request may be
 * an outage, so the verdict is not final then.
 */
export function httpRefusal(error: unknown): ProbeOutcome {
  const wasCut = isPlugboardError(error, "connection-lost") && error.executed !== "no";
  if (wasCut) return { kind: "unclear" };
  const status = statusIn(error);
  if (status === undefined || status === 401 || status === 403) throw error;
  const said = rpcErrorIn(error);
  if (status >= 500 && (!said || said.code === -32_603)) return { kind: "unclear" };
  const supported = isRecord(said?.data) ? said.data["supported"] : undefined;
  return {
    kind: "refused",
    ...(said && { code: said.code }),
    ...(Array.isArray(supported) && { supported: supported as string[] }),
  };
}

/** True if `server/discover` was refused the way servers do that are not modern. */
export function refutesModern(error: unknown): boolean {
  const status = isPlugboardError(error, "unexpected-response") ? statusIn(error) : undefined;
  return status !== undefined && status >= 400 && status < 500;
}

/** True if a server answered a request of the handshake, and refused it. */
export function wasRefused(error: unknown): boolean {
  return (isPlugboardError(error) && error.data?.rpcCode !== undefined) || refusalIn(error) !== undefined;
}

/** How a request was refused; undefined if it failed otherwise. */
export function refusalIn(error: unknown): Refused | undefined {
  if (!isPlugboardError(error, "unexpected-response")) return undefined;
  const said = rpcErrorIn(error);
  return { code: said?.code, message: said?.message ?? error.message, status: statusIn(error) };
}

/**
 * True if the first request was refused the way servers that only support the older SSE transport refuse a POST.
 */
export function shouldFallBackToSse(error: unknown): boolean {
  const status = isPlugboardError(error, "unexpected-response") ? statusIn(error) : undefined;
  return status !== undefined && [400, 404, 405, 406, 415].includes(status);
}

function statusIn(error: unknown): number | undefined {
  return isPlugboardError(error) ? error.data?.status : undefined;
}

/** Set by the transport (`statusError`). */
function rpcErrorIn(error: unknown): { code: number; message: string; data?: unknown } | undefined {
  return isPlugboardError(error) ? error.data?.rpcError : undefined;
}
