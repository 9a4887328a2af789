import { PlugboardError } from "../../../errors.ts";
import { printable } from "../../../lib/printable.ts";
import { isRecord } from "../../../lib/record.ts";
import { retryAfterMs } from "./retry-after.ts";

/** A whole answer that is not a success, or not of a type we can read. */
export interface HttpAnswer {
  server: string;
  status: number;
  contentType: string | undefined;
  retryAfter: string | undefined;
  text: string;
  /** Whether the request carried a session id. */
  hadSession: boolean;
  now: number;
}

/** No message shows more of an answer than the beginning of this. */
export const readableLength = 4_000;

/** What an unsuccessful answer means to a caller. */
export function statusError(answer: HttpAnswer): PlugboardError {
  const { server, status } = answer;
  const data = { status };
  if (isSessionLost(answer)) return sessionLost(server, status);
  const limited = rateLimit(answer);
  if (limited !== undefined) return limited;
  if (status === 401) {
    return new PlugboardError("auth-required", `"${server}" wants a login (HTTP 401).`, { server, data });
  }
  if (status === 403) {
    return new PlugboardError("auth-failed", `"${server}" refused access (${describe(answer)}).`, {
      server,
      data,
    });
  }
  if (status === 502 || status === 503 || status === 504) {
    return new PlugboardError("not-responding", `"${server}" is not available (${describe(answer)}).`, {
      server,
      data,
    });
  }
  return unexpected(answer);
}

/** 429, and 503 when the server says when to come back. */
export function rateLimit(answer: Omit<HttpAnswer, "text" | "hadSession">): PlugboardError | undefined {
  const { server, status, retryAfter, now } = answer;
  if (status !== 429 && (status !== 503 || retryAfter === undefined)) return undefined;
  const waitMs = retryAfterMs(retryAfter, now);
  const message = `"${server}" accepts no more requests for now (HTTP ${status}); try again in ${Math.ceil(waitMs / 1000)} s.`;
  return new PlugboardError("rate-limited", message, { server, data: { status, retryAfterMs: waitMs } });
}

export function unexpected(answer: Omit<HttpAnswer, "retryAfter" | "hadSession" | "now">): PlugboardError {
  const { server, status, contentType } = answer;
  return new PlugboardError(
    "unexpected-response",
    `"${server}" did not answer like an MCP server (${describe(answer)}).`,
    {
      server,
      data: {
        status,
        ...(contentType !== undefined && { contentType: printable(contentType, { oneLine: true }) }),
      },
    },
  );
}

/** The connection layer starts a new session and repeats once: the server did nothing with this request. */
export function sessionLost(server: string, status: number): PlugboardError {
  return new PlugboardError("connection-lost", `"${server}" no longer knows our session (HTTP ${status}).`, {
    server,
    data: { reason: "session-lost", status },
  });
}

/**
 * With a session, 404 is the spec's way to say so. Servers also answer 400, or a JSON-RPC error -32001, and only
 * their words tell these apart from other mistakes.
 */
export function isSessionLost({
  status,
  text,
  hadSession,
}: Pick<HttpAnswer, "status" | "text" | "hadSession">): boolean {
  if (!hadSession) return false;
  if (status === 404) return true;
  return status === 400 && /\bsession\b/i.test(errorMessage(text) ?? text.slice(0, 500));
}

export function isSessionError(
  { code, message }: { code: number; message: string },
  isRefused: boolean,
): boolean {
  if (code !== -32001) return false;
  // On a success these words may be about anything; only the ones that servers are known to use for this count there.
  return isRefused
    ? /\bsession\b/i.test(message)
    : /^(bad request: )?(session not found|no valid session( id)?( provided)?)\.?$/i.test(message);
}

function errorMessage(text: string): string | undefined {
  try {
    const body: unknown = JSON.parse(text);
    const error = isRecord(body) ? body["error"] : undefined;
    const message = isRecord(error) ? error["message"] : error;
    return typeof message === "string" ? message : undefined;
  } catch {
    return undefined;
  }
}

function describe({
  status,
  contentType,
  text,
}: Pick<HttpAnswer, "status" | "contentType" | "text">): string {
  const type =
    contentType === undefined ? "no content type" : printable(contentType.slice(0, 80), { oneLine: true });
  const line = firstLine(text);
  return `HTTP ${status}, ${type}${line === "" ? "" : `: ${line}`}`;
}

function firstLine(text: string): string {
  const line = /\S[^\r\n]*/.exec(text.slice(0, 2000))?.[0].trimEnd() ?? "";
  return printable(line.length > 120 ? `${line.slice(0, 120)}…` : line, { oneLine: true });
}
