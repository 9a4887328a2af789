import { PlugboardError } from "../../../errors.ts";
import { printable } from "../../../lib/printable.ts";
import { isRecord } from "../../../lib/record.ts";
import type { Authorization } from "./authorization.ts";
import { type Head, headerText } from "./exchange.ts";
import { missingRights, refusalHint, unauthorized } from "./refused-credentials.ts";
import { retryAfterMs } from "./retry-after.ts";
import { refusesSession, sessionLost } from "./session-lost.ts";

/** A complete response that is not successful, or of a type we cannot read. */
export interface Refusal {
  head: Head;
  body: Buffer;
  /** True if the request carried a session id. */
  hadSession: boolean;
}

/** How much of a response is read for an error message, which quotes only its start. */
export const readableLength = 4_000;

/** Turns an unsuccessful response into an error. */
export function statusError(
  authorization: Authorization,
  { head, body, hadSession }: Refusal,
): PlugboardError {
  const { server, redact, now } = authorization.client;
  const { status } = head;
  const said = readRpcError(body);
  if (hadSession && refusesSession(status, said?.message ?? body.toString("utf8", 0, 500)))
    return sessionLost(server, status);
  if (status === 401) return unauthorized(server, authorization);
  const rights =
    status === 403 && missingRights(server, headerText(head, "www-authenticate") ?? "", authorization);
  if (rights) return rights;
  const retryAfter = headerText(head, "retry-after");
  if (status === 429 || (status === 503 && retryAfter !== undefined))
    return rateLimited(server, status, retryAfterMs(retryAfter, now()));
  const contentType = redact(headerText(head, "content-type") ?? "");
  const description = describe(status, contentType, redact(body.toString("utf8", 0, readableLength)));
  const details = {
    server,
    data: {
      status,
      ...(contentType !== "" && { contentType: printable(contentType, { oneLine: true }) }),
      ...(said && { rpcError: { ...said, message: redact(said.message) } }),
    },
  };
  if (status === 403) {
    const hint = refusalHint(server, authorization);
    return new PlugboardError("auth-failed", `"${server}" refused access (${description}).`, {
      ...details,
      hint,
    });
  }
  if (status === 502 || status === 503 || status === 504)
    return new PlugboardError("not-responding", `"${server}" is not available (${description}).`, details);
  const message = `"${server}" did not answer like an MCP server (${description}).`;
  return new PlugboardError("unexpected-response", message, details);
}

function rateLimited(server: string, status: number, waitMs: number): PlugboardError {
  const message = `"${server}" accepts no more requests for now (HTTP ${status}); try again in ${Math.ceil(waitMs / 1000)} s.`;
  return new PlugboardError("rate-limited", message, {
    server,
    executed: status === 429 ? "no" : "maybe",
    retryAfterMs: waitMs,
    data: { status, retryAfterMs: waitMs },
  });
}

interface RpcErrorDetails {
  code: number;
  message: string;
  data?: { supported: string[] };
}

const maxErrorBytes = 65_536;
const maxMessageLength = 500;

/** The fields we use of the JSON-RPC error in an unsuccessful response. */
function readRpcError(body: Buffer): RpcErrorDetails | undefined {
  const parsed = body.length > maxErrorBytes ? undefined : tryParse(body);
  const error = isRecord(parsed) ? parsed["error"] : undefined;
  if (!isRecord(error)) return undefined;
  const { code, message, data } = error;
  if (typeof code !== "number" || typeof message !== "string") return undefined;
  const supported = isRecord(data) && Array.isArray(data["supported"]) ? data["supported"] : undefined;
  return {
    code,
    message: message.slice(0, maxMessageLength),
    ...(supported && { data: { supported: supported.slice(0, 20).map(String) } }),
  };
}

export function tryParse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8")) as unknown;
  } catch {
    return undefined;
  }
}

function describe(status: number, contentType: string, text: string): string {
  const type =
    contentType === "" ? "no content type" : printable(contentType.slice(0, 80), { oneLine: true });
  const line = firstLine(text);
  return `HTTP ${status}, ${type}${line === "" ? "" : `: ${line}`}`;
}

function firstLine(text: string): string {
  const line = /\S[^\r\n]*/.exec(text.slice(0, 2000))?.[0].trimEnd() ?? "";
  return printable(line.length > 120 ? `${line.slice(0, 120)}…` : line, { oneLine: true });
}
