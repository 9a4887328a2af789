import { isRecord } from "../../lib/record.ts";
import { shown } from "./errors.ts";

const toleranceMs = 60_000;
const clock = "the clock of this machine, or of the server, may be off";

/** What a token says about itself, where it can be read (JWT). Nothing here is believed; it only helps to explain. */
export function readClaims(token: string | undefined): Record<string, unknown> | undefined {
  const [, payload = ""] = (token ?? "").split(".");
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
    return isRecord(claims) ? claims : undefined;
  } catch {
    return undefined;
  }
}

/** Why a server may have refused a token, as far as the token tells. */
export function explainToken(token: string, url: URL, now: number): string | undefined {
  const { aud, exp, nbf, iat } = readClaims(token) ?? {};
  const from = Math.max(seconds(nbf) ?? 0, seconds(iat) ?? 0) * 1000;
  if (from > now + toleranceMs) return `The token is valid only from ${when(from)} on: ${clock}.`;
  const until = seconds(exp);
  if (until !== undefined && until * 1000 <= now) return `The token expired at ${when(until * 1000)}.`;
  const audiences = (Array.isArray(aud) ? aud : [aud]).filter((one) => typeof one === "string");
  const places = audiences.map((one) => URL.parse(one)).filter((one) => one !== null);
  if (places.length === 0 || places.length < audiences.length) return undefined;
  if (places.some(({ origin }) => origin === url.origin)) return undefined;
  return `The token is for ${audiences.map((one) => shown(one)).join(", ")} (aud), not for ${url.origin}.`;
}

/** The same for tokens that cannot be read: the server's own idea of the time. */
export function explainTime(date: string | undefined, now: number): string | undefined {
  const theirs = Date.parse(date ?? "");
  if (Number.isNaN(theirs) || Math.abs(theirs - now) < 5 * toleranceMs) return undefined;
  const minutes = Math.round(Math.abs(theirs - now) / 60_000);
  return `The server's clock is ${minutes} minutes ${theirs > now ? "ahead of" : "behind"} ours: ${clock}.`;
}

function seconds(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

function when(ms: number): string {
  return ms < 8.64e15 ? new Date(ms).toISOString() : "the far future";
}
