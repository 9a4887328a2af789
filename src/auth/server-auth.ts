/** Authenticates requests to a remote server, in addition to the configured headers. */
export interface ServerAuth {
  /** The headers that authenticate this request: a token, a proof for it, or what a command printed. */
  headers(request: { method: string; url: URL }): Promise<Readonly<Record<string, string>>>;
  /**
   * Called when the server refused the headers (401). Resolves if the request should be repeated, which happens once,
   * with `false` if there is nothing new to send; rejects with the error to show. Without this method, the request is
   * not repeated.
   */
  renew?(refusal: Unauthorized): Promise<void | boolean>;
  /** Called when the server requires this nonce in later proofs (DPoP). */
  useNonce?(nonce: string, url: URL): void | Promise<void>;
  /** Values that must be hidden wherever they appear. */
  secrets?(): readonly string[];
  /** True if a person or a grant can log in again to get others. */
  readonly isLogin?: boolean;
  /** For credentials that are not a login: where they come from, as a hint. */
  readonly source?: string;
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
