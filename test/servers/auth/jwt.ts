import { createHash, createPublicKey, type JsonWebKey, type KeyObject, sign, verify } from "node:crypto";
import { Refusal } from "./refusal.ts";

export type Jwk = JsonWebKey;

interface Jwt {
  header: Record<string, unknown>;
  claims: Record<string, unknown>;
}

type Checks = { error: string; keys: (jwt: Jwt) => Jwk[]; typ?: string };

/** Believes ES256 and RS256 signatures by one of the keys, and nothing that has expired. */
export function verifyJwt(text: string, { error, keys, typ }: Checks): Jwt {
  const refuse = (why: string): never => {
    throw new Refusal(error, why);
  };
  const [head = "", body = "", signature = ""] = text.split(".");
  const jwt = { header: decode(head) ?? refuse("not a JWT"), claims: decode(body) ?? refuse("not a JWT") };
  if (typ !== undefined && jwt.header["typ"] !== typ) refuse(`typ is not ${typ}`);
  const alg = jwt.header["alg"];
  if (alg !== "ES256" && alg !== "RS256") refuse("only ES256 and RS256 are accepted");
  const kid = jwt.header["kid"];
  const fitting = keys(jwt).filter((key) => key.kty === (alg === "ES256" ? "EC" : "RSA"));
  const named = fitting.filter((key) => kid === undefined || key.kid === undefined || key.kid === kid);
  const data = Buffer.from(`${head}.${body}`);
  const bytes = Buffer.from(signature, "base64url");
  const good = named.some((jwk) => verify("sha256", data, publicKey(jwk), bytes));
  if (!good) refuse("the signature is not by a known key");
  const { exp } = jwt.claims;
  if (exp !== undefined && (typeof exp !== "number" || exp * 1000 <= Date.now())) refuse("it has expired");
  return jwt;
}

export function signJwt(
  claims: Record<string, unknown>,
  key: KeyObject,
  header: Record<string, unknown> = {},
): string {
  const encode = (part: unknown): string => Buffer.from(JSON.stringify(part)).toString("base64url");
  const data = `${encode({ alg: "ES256", typ: "JWT", ...header })}.${encode(claims)}`;
  const signature = sign("sha256", Buffer.from(data), { key, dsaEncoding: "ieee-p1363" });
  return `${data}.${signature.toString("base64url")}`;
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

function publicKey(jwk: Jwk): { key: KeyObject; dsaEncoding: "ieee-p1363" } {
  return { key: createPublicKey({ key: jwk, format: "jwk" }), dsaEncoding: "ieee-p1363" };
}

function decode(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
