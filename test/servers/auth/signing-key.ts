import { generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { type Jwk, thumbprint } from "./jwt.ts";

/** A key pair of a client, a workload's platform or a server. */
export interface SigningKey {
  readonly algorithm: "ES256" | "RS256";
  /** The public half; its `kid` is the thumbprint. */
  readonly jwk: Jwk;
  /** RFC 7638. */
  readonly thumbprint: string;
  /** The private half, as PKCS #8. */
  readonly pem: string;
  /** A JWT. `iat`, `exp` (in five minutes), `jti` and `kid` are added; `undefined` leaves one out. */
  sign(claims: Record<string, unknown>, header?: Record<string, unknown>): string;
}

export function createKey(algorithm: "ES256" | "RS256" = "ES256"): SigningKey {
  const { publicKey, privateKey: key } =
    algorithm === "ES256"
      ? generateKeyPairSync("ec", { namedCurve: "P-256" })
      : generateKeyPairSync("rsa", { modulusLength: 2048 });
  const bare = publicKey.export({ format: "jwk" });
  const kid = thumbprint(bare);
  return {
    algorithm,
    jwk: { ...bare, kid },
    thumbprint: kid,
    pem: key.export({ type: "pkcs8", format: "pem" }).toString(),
    sign: (claims, header = {}) => {
      const iat = Math.floor(Date.now() / 1000);
      const data = [
        { alg: algorithm, typ: "JWT", kid, ...header },
        { iat, exp: iat + 300, jti: randomUUID(), ...claims },
      ]
        .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
        .join(".");
      const signature = sign("sha256", Buffer.from(data), { key, dsaEncoding: "ieee-p1363" });
      return `${data}.${signature.toString("base64url")}`;
    },
  };
}
