/** Authenticates requests to a remote server, in addition to the configured headers. */
export interface ServerAuth {
  /** The headers that authenticate this request: a token, a proof for it, or what a command printed. */
  headers(request: { method: string; url: URL }): Promise<Readonly<Record<string, string>>>;
  /**
   * The server refused them (401). Resolves when it makes sense to repeat the request, which happens once; `false` means
   * that there is nothing new to show. Rejects with the error to show. Without it nothing is repeated.
   */
  renew?(refusal: Unauthorized): Promise<void | boolean>;
  /** The server wants this nonce in later proofs (DPoP). */
  useNonce?(nonce: string, url: URL): void | Promise<void>;
  /** Values that must be hidden wherever they appear. */
  secrets?(): readonly string[];
  /** Explains why the server may have refused the credentials. */
  explainRefusal?(): string | undefined;
}

/** Two headers of a 401 response. */
export interface Unauthorized {
  /** `WWW-Authenticate`; empty if absent. */
  challenge: string;
  /** `Date`. */
  date: string | undefined;
}
