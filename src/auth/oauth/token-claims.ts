import { isRecord } from "../../lib/record.ts";
import { shown } from "./errors.ts";

const toleranceMs = 60_000;
const clock = "the clock of this machine or of the server may be wrong";

/** The claims of a token, if it is a JWT. They are not verified, so use them only for explanations and names. */
export function readClaims(token: string | undefined): Record<string, unknown> | undefined {
  const [, payload = ""] = (token ?? "").split(".");
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
    return isRecord(claims) ? claims : undefined;
  } catch {
    return undefined;
  }
}

/** Explains why a server may have refused a token, if its claims show a reason. */
export function explainToken(token: string, url: URL, now: number): string | undefined {
  const { aud, exp, nbf, iat } = readClaims(token) ?? {};
  const from = Math.max(seconds(nbf) ?? 0, seconds(iat) ?? 0) * 1000;
  if (from > now + toleranceMs) return `The token is not valid before ${when(from)}: ${clock}.`;
  const until = seconds(exp);
  if (until !== undefined && until * 1000 <= now) return `The token expired at ${when(until * 1000)}.`;
  const audiences = (Array.isArray(aud) ? aud : [aud]).filter((one) => typeof one === "string");
  const places = audiences.map((one) => URL.parse(one)).filter((one) => one !== null);
  if (places.length === 0 || places.length < audiences.length) return undefined;
  if (places.some(({ origin }) => origin === url.origin)) return undefined;
  return `The token is for ${audiences.map((one) => shown(one)).join(", ")} (aud), not for ${url.origin}.`;
}

/** The same for tokens that are not JWTs: compares the server's clock with ours. */
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
