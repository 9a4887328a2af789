import { createHash, generateKeyPairSync } from "node:crypto";
import type { DpopSession } from "@modelcontextprotocol/client";

/** A private key, stored with the login that is bound to it (RFC 9449). */
export interface DpopKey {
  kty: string;
  crv: string;
  x: string;
  y: string;
  d: string;
}

const curve = { name: "ECDSA", namedCurve: "P-256" };

export function newDpopKey(): DpopKey {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { kty = "", crv = "", x = "", y = "", d = "" } = privateKey.export({ format: "jwk" });
  return { kty, crv, x, y, d };
}

/** Signs requests with the key and remembers the nonces that servers require. */
export async function openDpopSession({ d, ...publicJwk }: DpopKey): Promise<DpopSession> {
  const { DpopSession: Session } = await import("@modelcontextprotocol/client");
  const { crv, kty, x, y } = publicJwk;
  return Session.create({
    keyPair: {
      privateKey: await crypto.subtle.importKey("jwk", { ...publicJwk, d }, curve, false, ["sign"]),
      publicKey: await crypto.subtle.importKey("jwk", publicJwk, curve, true, ["verify"]),
      publicJwk,
      thumbprint: createHash("sha256").update(JSON.stringify({ crv, kty, x, y })).digest("base64url"),
      alg: "ES256",
    },
  });
}
