import type { IncomingHttpHeaders } from "node:http";
import { digest, type Jwk, thumbprint, verifyJwt } from "./jwt.ts";
import { Refusal } from "./refusal.ts";

interface Presented {
  headers: IncomingHttpHeaders | Record<string, string | string[] | undefined>;
  method: string;
  /** Without query and fragment. */
  url: string;
  accessToken?: string;
  /** The nonce that the proof must carry, if any. */
  nonce?: string;
}

/** RFC 9449: the proofs of one server. No proof is good twice. */
export class DpopProofs {
  readonly #seen = new Set<string>();

  /** The thumbprint of the key that made the proof, or nothing without a proof. */
  check({ headers, method, url, accessToken, nonce }: Presented): string | undefined {
    const proof = headers["dpop"];
    if (proof === undefined) return undefined;
    if (typeof proof !== "string") throw bad("there is more than one proof");
    const { header, claims } = verifyJwt(proof, {
      error: "invalid_dpop_proof",
      typ: ["dpop+jwt"],
      keys: (jwt) => (isKey(jwt.header["jwk"]) ? [jwt.header["jwk"]] : []),
    });
    const { jti, iat } = claims;
    if (claims["htm"] !== method) throw bad(`htm is not ${method}`);
    if (claims["htu"] !== url) throw bad(`htu is not ${url}`);
    if (typeof iat !== "number" || Math.abs(iat * 1000 - Date.now()) > 300_000) throw bad("iat is not now");
    if (typeof jti !== "string" || this.#seen.has(jti)) throw bad("jti is missing or was used before");
    if (accessToken !== undefined && claims["ath"] !== digest(accessToken)) throw bad("ath is wrong");
    if (nonce !== undefined && claims["nonce"] !== nonce) {
      throw new Refusal("use_dpop_nonce", "a nonce is needed", { headers: { "dpop-nonce": nonce } });
    }
    this.#seen.add(jti);
    return thumbprint(header["jwk"] as Jwk);
  }
}

function isKey(value: unknown): value is Jwk {
  return typeof value === "object" && value !== null && "kty" in value && !("d" in value);
}

function bad(why: string): Refusal {
  return new Refusal("invalid_dpop_proof", why);
}
