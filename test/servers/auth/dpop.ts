import { randomUUID } from "node:crypto";
import { digest, type Jwk, thumbprint, verifyJwt } from "./jwt.ts";
import type { AuthReceived } from "./listener.ts";
import { Refusal } from "./refusal.ts";
import type { Introspection } from "./tokens.ts";

interface Wanted {
  /** Where the request arrived, without query and fragment. */
  url: string;
  /** Whether the proof must carry the newest nonce. */
  nonce: boolean;
  accessToken?: string;
}

type Shown = Pick<AuthReceived, "headers" | "method">;

/** RFC 9449: the proofs of one server. No proof is good twice. */
export class DpopProofs {
  readonly #seen = new Set<string>();
  #nonce: string = randomUUID();

  /** The nonce of yesterday is good for nothing. */
  rotateNonce(): void {
    this.#nonce = randomUUID();
  }

  nonceHeader(): Record<string, string> {
    return { "dpop-nonce": this.#nonce };
  }

  /** The thumbprint of the key that made the proof, or nothing without a proof. */
  check({ headers, method }: Shown, { url, nonce, accessToken }: Wanted): string | undefined {
    const { dpop: proof } = headers;
    if (proof === undefined) return undefined;
    // Node joins headers of the same name, which makes no JWT of two of them.
    const { header, claims } = verifyJwt(String(proof), {
      error: "invalid_dpop_proof",
      typ: ["dpop+jwt"],
      keys: (jwt) => (isPublicKey(jwt.header["jwk"]) ? [jwt.header["jwk"]] : []),
    });
    const { jti, iat } = claims;
    if (claims["htm"] !== method) throw bad(`htm is not ${method}`);
    if (claims["htu"] !== url) throw bad(`htu is not ${url}`);
    if (typeof iat !== "number" || iat * 1000 < Date.now() - 300_000) throw bad("iat is not now");
    if (typeof jti !== "string" || this.#seen.has(jti)) throw bad("jti is missing or was used before");
    if (accessToken !== undefined && claims["ath"] !== digest(accessToken)) throw bad("ath is wrong");
    this.#seen.add(jti);
    if (nonce && claims["nonce"] !== this.#nonce)
      throw new Refusal("use_dpop_nonce", "the newest nonce is needed", { headers: this.nonceHeader() });
    return thumbprint(header["jwk"] as Jwk);
  }

  /** Refuses a bound token that somebody else shows, or shows as if it were not bound; and the other way round. */
  checkBinding(
    request: Shown,
    {
      scheme,
      token,
      known,
      ...wanted
    }: PresentedToken & { known: Introspection } & Omit<Wanted, "accessToken">,
  ): void {
    const bound = known.cnf?.jkt;
    if ((scheme === "dpop") !== (bound !== undefined))
      throw new Refusal(
        "invalid_token",
        bound ? "The token is bound to a key" : "The token is bound to no key",
      );
    if (bound === undefined) return;
    const shown = this.check(request, { ...wanted, accessToken: token });
    if (shown === undefined) throw bad("there is no proof");
    if (shown !== bound) throw new Refusal("invalid_token", "The token is bound to another key");
  }
}

export interface PresentedToken {
  scheme: "bearer" | "dpop";
  token: string;
}

export function presentedToken({ headers }: Shown): PresentedToken | undefined {
  const [, scheme = "", token] =
    /^(Bearer|DPoP) (\S+)$/i.exec(headers["authorization"]?.toString() ?? "") ?? [];
  return token === undefined
    ? undefined
    : { scheme: scheme.toLowerCase() === "dpop" ? "dpop" : "bearer", token };
}

function isPublicKey(value: unknown): value is Jwk {
  return typeof value === "object" && value !== null && !("d" in value) && !("k" in value);
}

function bad(why: string): Refusal {
  return new Refusal("invalid_dpop_proof", why);
}
