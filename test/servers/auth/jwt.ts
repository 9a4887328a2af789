import { createHash, createPublicKey, type JsonWebKey, type KeyObject, verify } from "node:crypto";
import { Refusal } from "./refusal.ts";

export type Jwk = JsonWebKey;

export interface Jwt {
  header: Record<string, unknown>;
  claims: Record<string, unknown>;
}

interface Checks {
  /** What it is refused with. */
  error: string;
  status?: number;
  keys: (jwt: Jwt) => Jwk[];
  /** The only `typ` values; absent ones count as `JWT`. */
  typ: string[];
  nowMs?: number;
}

export const ALGORITHMS = ["ES256", "RS256"];

const LEEWAY_MS = 30_000;

/** Believes ES256 and RS256 signatures by one of the keys, of the right type, and not outside of their time. */
export function verifyJwt(text: string, { error, status, keys, typ, nowMs = Date.now() }: Checks): Jwt {
  const refuse = (why: string): never => {
    throw new Refusal(error, why, status === undefined ? {} : { status });
  };
  const [head = "", body = "", signature = "", ...more] = text.split(".");
  const jwt = { header: decode(head) ?? refuse("not a JWT"), claims: decode(body) ?? refuse("not a JWT") };
  if (more.length > 0 || !/^[\w-]+$/.test(signature)) refuse("not a JWT");
  const { header, claims } = jwt;
  const { typ: own = "JWT", kid } = header;
  if (!typ.some((known) => known === own)) refuse(`typ is not ${typ.join(" or ")}`);
  if (header["crit"] !== undefined) refuse("crit is not understood");
  if (!ALGORITHMS.includes(String(header["alg"]))) refuse(`only ${ALGORITHMS.join(" and ")} are accepted`);
  const named = keys(jwt).filter((key) => kid === undefined || key.kid === undefined || key.kid === kid);
  const data = Buffer.from(`${head}.${body}`);
  const bytes = Buffer.from(signature, "base64url");
  const good = named.some((jwk) => {
    const key = publicKey(jwk, String(header["alg"]));
    return key !== undefined && verify("sha256", data, { key, dsaEncoding: "ieee-p1363" }, bytes);
  });
  if (!good) refuse("the signature is not by a known key");
  const time = (name: string): number | undefined => {
    const value = claims[name];
    return value === undefined || typeof value === "number" ? value : refuse(`${name} is not a number`);
  };
  if ((time("exp") ?? Infinity) * 1000 <= nowMs) refuse("it has expired");
  for (const name of ["nbf", "iat"])
    if ((time(name) ?? 0) * 1000 > nowMs + LEEWAY_MS) refuse(`${name} is in the future`);
  return jwt;
}

/** The claims of a JWT before anybody has looked at its signature. */
export function unverifiedClaims(text: string): Record<string, unknown> | undefined {
  return decode(text.split(".")[1] ?? "");
}

/** RFC 7638. */
export function thumbprint(jwk: Jwk): string {
  const names = jwk.kty === "EC" ? ["crv", "kty", "x", "y"] : ["e", "kty", "n"];
  const members = Object.fromEntries(names.map((name) => [name, jwk[name as keyof Jwk]]));
  return digest(JSON.stringify(members));
}

export function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

/** Nothing for a key that does not fit the algorithm, or is none. */
function publicKey(jwk: Jwk, algorithm: string): KeyObject | undefined {
  const fits = algorithm === "ES256" ? jwk.kty === "EC" && jwk.crv === "P-256" : jwk.kty === "RSA";
  if (!fits) return undefined;
  try {
    const key = createPublicKey({ key: jwk, format: "jwk" });
    return algorithm === "ES256" || (key.asymmetricKeyDetails?.modulusLength ?? 0) >= 2048 ? key : undefined;
  } catch {
    return undefined;
  }
}

function decode(part: string): Record<string, unknown> | undefined {
  if (!/^[\w-]+$/.test(part)) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
