import type { FetchLike } from "@modelcontextprotocol/client";
import { isPlugboardError } from "../errors.ts";
import { authFailed, operatorHint, ourCause, shown } from "./oauth-errors.ts";
import { isSafeUrl } from "./oauth-url.ts";

const longestBytes = 1_048_576;
const limitMs = 30_000;

/**
 * For everything that is not a message to the server itself: https or this machine only, never to another origin by a
 * redirect, never longer than a document of this kind can be. What it refuses it says in words of ours.
 */
export function guardFetch(server: string, own: URL, fetch: FetchLike): FetchLike {
  return async (input, init = {}) => {
    const url = new URL(input);
    const method = (init.method ?? "GET").toUpperCase();
    const isOwnDocument = method === "GET" && url.origin === own.origin;
    if (!isSafeUrl(url) && !isOwnDocument) throw unsafe(server, url);
    const signal = AbortSignal.any([AbortSignal.timeout(limitMs), ...(init.signal ? [init.signal] : [])]);
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
    return response;
  };
}

export const documentLimits = { maxBodyBytes: longestBytes, headersTimeoutMs: limitMs };

function assertSameOrigin(server: string, url: URL, location: string, status: number): void {
  const target = URL.parse(location, url.href);
  if (target?.origin === url.origin) return;
  const where = shown(target?.origin ?? location);
  const message = `${url.origin} wanted to send the login of "${server}" on to ${where} (HTTP ${status}); nothing was sent there.`;
  throw authFailed(server, message, { data: { reason: "redirect" }, hint: operatorHint });
}

function unsafe(server: string, url: URL): Error {
  const where = shown(url.protocol.startsWith("http") ? url.origin : url.protocol);
  const message = `The login of "${server}" would go to ${where}, which is neither https nor on this machine; nothing was sent.`;
  return authFailed(server, message, { data: { reason: "unsafe-address" }, hint: operatorHint });
}

function tooLong(server: string, url: URL): Error {
  return authFailed(server, `${url.origin} answered the login of "${server}" with more than 1 MB.`, {
    data: { reason: "too-long" },
    hint: operatorHint,
  });
}
