import { createPrivateKey, randomUUID, sign } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { PlugboardError } from "../../errors.ts";

const lifeSeconds = 300;

interface Assertion {
  server: string;
  clientId: string;
  /** The issuer that the assertion is for. */
  audience: string;
  /** PEM or JWK. */
  privateKey: string;
  now: number;
}

/** RFC 7523: the client identifies itself with a signature, so that no secret leaves this machine. */
export function clientAssertion({ server, clientId, audience, privateKey, now }: Assertion): string {
  const key = readKey(server, privateKey);
  const { alg, hash } = algorithmOf(server, key);
  const iat = Math.floor(now / 1000);
  const claims = {
    iss: clientId,
    sub: clientId,
    aud: audience,
    iat,
    exp: iat + lifeSeconds,
    jti: randomUUID(),
  };
  const signed = `${encode({ alg, typ: "JWT" })}.${encode(claims)}`;
  const signature = sign(hash, Buffer.from(signed), { key, dsaEncoding: "ieee-p1363" });
  return `${signed}.${signature.toString("base64url")}`;
}

export interface SigningClient {
  server: string;
  oauth: { clientId?: string | undefined; privateKey?: string | undefined };
  client: { client_id: string };
  issuer: string;
  now(): number;
}

/** Returns a function that adds the signature to a form; undefined if the client has no key. */
export function clientSignature({ server, oauth, client, issuer: audience, now }: SigningClient) {
  const { privateKey, clientId } = oauth;
  if (privateKey === undefined || clientId !== client.client_id) return undefined;
  return (_headers: unknown, form: URLSearchParams) => {
    form.set("client_id", clientId);
    form.set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
    form.set("client_assertion", clientAssertion({ server, clientId, audience, privateKey, now: now() }));
  };
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function readKey(server: string, text: string): KeyObject {
  try {
    if (!text.trimStart().startsWith("{")) return createPrivateKey(text);
    return createPrivateKey({ key: JSON.parse(text) as Record<string, string>, format: "jwk" });
  } catch {
    // The parser's message may quote the key, so it is not passed on.
    throw unusable(server, "is not a private key in PEM or JWK format");
  }
}

function algorithmOf(server: string, key: KeyObject): { alg: string; hash: string | null } {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (type === "rsa") return { alg: "RS256", hash: "sha256" };
  if (type === "ed25519") return { alg: "EdDSA", hash: null };
  const curves: Record<string, { alg: string; hash: string }> = {
    prime256v1: { alg: "ES256", hash: "sha256" },
    secp384r1: { alg: "ES384", hash: "sha384" },
    secp521r1: { alg: "ES512", hash: "sha512" },
  };
  const found = type === "ec" ? curves[details?.namedCurve ?? ""] : undefined;
  if (!found) throw unusable(server, "is not an RSA, Ed25519, P-256, P-384 or P-521 key");
  return found;
}

function unusable(server: string, why: string): PlugboardError {
  return new PlugboardError("config-invalid", `\`oauth.privateKey\` of "${server}" ${why}.`, { server });
}
