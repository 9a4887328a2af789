import { explainToken } from "../../../auth/oauth/token-claims.ts";
import type { ServerAuth } from "../../../auth/server-auth.ts";
import { looksSecret } from "../../../lib/secret-words.ts";
import { AuthorizedRequest } from "./authorized-request.ts";
import type { ExchangeOptions, HttpClient } from "./client.ts";
import type { HttpRequest, Receiver } from "./exchange.ts";

export type OwnRequest = Pick<HttpRequest, "url" | "method" | "headers" | "body">;

export interface SendOptions extends ExchangeOptions {
  /** False for requests that are not worth renewing credentials for, such as closing a session or a cancellation. */
  renews?: boolean;
}

/** A request that is being sent. */
export interface Sending {
  /** True if any part of it may have reached the server, unless the server rejected it. */
  readonly sent: boolean;
  /** Aborts it; the receiver fails with exactly this reason. */
  abort(reason: unknown): void;
}

/** Sends every request to the server, with credentials. */
export class Authorization {
  /** True if the last request carried credentials. Without them a 401 asks for a login, with them it rejects them. */
  hasShown: boolean;
  readonly client: HttpClient;
  readonly auth: ServerAuth | undefined;
  /** The configured headers that are credentials. */
  readonly configured: readonly string[];

  constructor(client: HttpClient, auth: ServerAuth | undefined) {
    this.client = client;
    this.auth = auth;
    this.configured = Object.keys(client.headers).filter(looksSecret);
    this.hasShown = this.configured.length > 0;
  }

  /** Sends immediately if no credentials have to be prepared. Reports every outcome to the receiver. */
  send(request: OwnRequest, receiver: Receiver, options: SendOptions = {}): Sending {
    if (this.auth) return new AuthorizedRequest(this, this.auth, request, receiver, options);
    try {
      const headers = { ...this.client.headers, ...request.headers };
      return this.client.exchange({ ...request, headers }, receiver, options);
    } catch (error) {
      receiver.failed(error);
      return { sent: false, abort() {} };
    }
  }

  /** Records the headers that a provider made for a request. */
  show(made: Readonly<Record<string, string>>): void {
    this.hasShown = this.configured.length > 0 || Object.keys(made).length > 0;
    for (const [name, value] of Object.entries(made))
      if (name !== "dpop" && value.length >= minSecretLength) this.client.onCredential?.(value);
  }

  /** Records the credentials that whoever makes a request gave it. The rest, such as a name, may well be in its answer. */
  showOwn(headers: Readonly<Record<string, string>> | undefined): void {
    for (const [name, value] of Object.entries(headers ?? {}))
      if (looksSecret(name) && value.length >= minSecretLength) this.client.onCredential?.(value);
  }

  /** Explains what may be wrong with rejected credentials. */
  explain(): string | undefined {
    const { headers, url, now } = this.client;
    const configured = headers["authorization"]?.replace(/^\S+\s+/, "") ?? "";
    return this.auth?.explainRefusal?.() ?? explainToken(configured, url, now());
  }
}

/** Shorter values are probably flags, not secrets. */
const minSecretLength = 8;
