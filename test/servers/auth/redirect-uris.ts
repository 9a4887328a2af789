import { Refusal } from "./refusal.ts";

/** Exactly as registered, but for the port of a loopback address (RFC 8252). */
export function isRegistered(asked: string, registered: string[]): boolean {
  return registered.includes(asked) || registered.some((uri) => differsByPort(uri, asked));
}

/** Throws unless it is https, http to loopback, or the scheme of an app. */
export function checkRedirectUri(uri: string, applicationType?: string): void {
  const url = URL.parse(uri);
  const refuse = (why: string): Refusal => new Refusal("invalid_redirect_uri", `${uri}: ${why}`);
  if (url === null || url.hash !== "") throw refuse("not an absolute URI without a fragment");
  if (["javascript:", "data:", "file:", "vbscript:"].includes(url.protocol)) throw refuse("not that scheme");
  if (url.protocol === "http:" && !isLoopback(url.hostname)) throw refuse("http is for loopback only");
  if (applicationType === "web" && url.protocol === "http:") throw refuse("loopback is for native clients");
}

export function isLoopback(hostname: string): boolean {
  return hostname === "127.0.0.1" || hostname === "[::1]" || hostname === "localhost";
}

function differsByPort(registered: string, asked: string): boolean {
  const [one, other] = [URL.parse(registered), URL.parse(asked)];
  if (one === null || other === null) return false;
  if (other.protocol !== "http:" || !isLoopback(other.hostname)) return false;
  // The rest must be the same as written, not only once normalised.
  const bare = (uri: string): string => uri.replace(/^(http:\/\/(?:\[::1\]|[^/:?#]*))(?::\d+)?/, "$1");
  return bare(registered) === bare(asked);
}
