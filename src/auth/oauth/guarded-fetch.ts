import type { FetchLike } from "@modelcontextprotocol/client";
import { isPlugboardError } from "../../errors.ts";
import { authFailed, operatorHint, ourCause, shown } from "./errors.ts";
import { startDeadline } from "../../lib/deadline.ts";
import { isSafeUrl, whyUnsafe } from "../../lib/safe-url.ts";

const longestBytes = 1_048_576;
const limitMs = 30_000;

/** Where the requests of a login may go. */
export interface Bounds {
  /** The server's own address. */
  own: URL;
  /** True if requests to services on this machine are allowed, see `allowsLocal`. */
  localAllowed: boolean;
}

/**
 * A fetch for all requests of a login. It allows only https and this machine, no redirect to another origin, and no
 * response larger than 1 MB; what it refuses becomes a PlugboardError.
 */
export function guardFetch(server: string, { own, localAllowed }: Bounds, fetch: FetchLike): FetchLike {
  return async (input, init = {}) => {
    const url = new URL(input);
    const method = (init.method ?? "GET").toUpperCase();
    const isOwnDocument = method === "GET" && url.origin === own.origin;
    if (!isSafeUrl(url, localAllowed) && !isOwnDocument) throw unsafe(server, url, localAllowed);
    // The response is complete when `fetch` resolves, so nothing has to be limited after that.
    using deadline = startDeadline(limitMs);
    const signal = AbortSignal.any([deadline.signal, ...(init.signal ? [init.signal] : [])]);
    let response: Response;
    try {
      response = await fetch(url, { ...init, redirect: "manual", signal });
    } catch (error) {
      const ours = ourCause(error);
      throw isPlugboardError(ours, "output-too-large") ? tooLong(server, url) : (ours ?? error);
    }
    const location = response.headers.get("location");
    if (response.status >= 300 && response.status < 400 && location !== null)
      assertSameOrigin(server, url, location, response.status);
    if (Number(response.headers.get("content-length") ?? 0) > longestBytes) throw tooLong(server, url);
    const wantsEvents = (new Headers(init.headers).get("accept") ?? "").includes("text/event-stream");
    if (isEventStream(response) && !wantsEvents) {
      // A stream has no length to check, and a login document is never a stream.
      await response.body?.cancel().catch(() => undefined);
      throw notADocument(server, url);
    }
    return response;
  };
}

export const documentLimits = { maxBodyBytes: longestBytes, headersTimeoutMs: limitMs };

function assertSameOrigin(server: string, url: URL, location: string, status: number): void {
  const target = URL.parse(location, url.href);
  if (target?.origin === url.origin) return;
  const where = shown(target?.origin ?? location);
  const message = `${url.origin} tried to redirect the login for "${server}" to ${where} (HTTP ${status}); nothing was sent there.`;
  throw authFailed(server, message, { data: { reason: "redirect" }, hint: operatorHint });
}

function unsafe(server: string, url: URL, localAllowed: boolean): Error {
  const where = shown(url.protocol.startsWith("http") ? url.origin : url.protocol);
  const message = `The login for "${server}" would send a request to ${where}, which ${whyUnsafe(url.href, localAllowed)}; nothing was sent.`;
  return authFailed(server, message, { data: { reason: "unsafe-address" }, hint: operatorHint });
}

function isEventStream({ ok, headers }: Response): boolean {
  return ok && /^\s*text\/event-stream\b/i.test(headers.get("content-type") ?? "");
}

function notADocument(server: string, url: URL): Error {
  const message = `${url.origin} answered the login for "${server}" with an event stream instead of a document.`;
  return authFailed(server, message, { data: { reason: "event-stream" }, hint: operatorHint });
}

function tooLong(server: string, url: URL): Error {
  return authFailed(server, `${url.origin} answered the login for "${server}" with more than 1 MB.`, {
    data: { reason: "too-long" },
    hint: operatorHint,
  });
}
