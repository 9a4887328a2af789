import { createHash, createPrivateKey, randomUUID, sign } from "node:crypto";
import type { KeyObject } from "node:crypto";
import type { DpopKey } from "./dpop-key.ts";

/** Creates proofs that a request comes from the owner of the key (RFC 9449), with the nonces that servers require. */
export class DpopProofs {
  readonly key: DpopKey;
  readonly #privateKey: KeyObject;
  readonly #header: string;
  readonly #now: () => number;
  /** The newest nonce for each origin. */
  readonly #nonces = new Map<string, string>();

  constructor(key: DpopKey, now: () => number = Date.now) {
    this.key = key;
    this.#now = now;
    const { d, ...jwk } = key;
    this.#privateKey = createPrivateKey({ key: { ...jwk, d }, format: "jwk" });
    this.#header = encode({ alg: "ES256", typ: "dpop+jwt", jwk });
  }

  useNonce(nonce: string, { origin }: URL): void {
    this.#nonces.set(origin, nonce);
  }

  /** Valid for one request: servers refuse a proof that they have seen before. */
  make(method: string, url: URL, accessToken: string): string {
    const nonce = this.#nonces.get(url.origin);
    const claims = encode({
      jti: randomUUID(),
      htm: method,
      htu: url.origin + url.pathname,
      iat: Math.floor(this.#now() / 1000),
      ath: createHash("sha256").update(accessToken).digest("base64url"),
      ...(nonce !== undefined && { nonce }),
    });
    const signed = `${this.#header}.${claims}`;
    const key = { key: this.#privateKey, dsaEncoding: "ieee-p1363" as const };
    return `${signed}.${sign("sha256", Buffer.from(signed), key).toString("base64url")}`;
  }
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
