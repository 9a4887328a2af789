/** What a remote server is shown beyond the configured headers, and what happens when it refuses that. */
export interface ServerAuth {
  /** The headers that identify us in this very request: a token, a proof made for it, what a command printed. */
  headers(request: { method: string; url: URL }): Promise<Readonly<Record<string, string>>>;
  /**
   * The server refused them (401). Resolves when it makes sense to repeat the request, which happens once; `false` means
   * that there is nothing new to show. Rejects with the error to show. Without it nothing is repeated.
   */
  renew?(refusal: Unauthorized): Promise<void | boolean>;
  /** The server wants this nonce in later proofs (DPoP). */
  useNonce?(nonce: string, url: URL): void | Promise<void>;
  /** What must not be repeated, whoever echoes it. */
  secrets?(): readonly string[];
  /** What may be wrong with credentials that were refused. */
  explainRefusal?(): string | undefined;
}

/** Two headers of a 401. */
export interface Unauthorized {
  /** `WWW-Authenticate`; empty without one. */
  challenge: string;
  /** `Date`. */
  date: string | undefined;
}
