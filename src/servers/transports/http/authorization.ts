import { explainToken } from "../../../auth/oauth/token-claims.ts";
import type { ServerAuth } from "../../../auth/server-auth.ts";
import { hasCredentials } from "../../target.ts";
import { AuthorizedRequest } from "./authorized-request.ts";
import type { ExchangeOptions, HttpClient } from "./client.ts";
import type { HttpRequest, Receiver } from "./exchange.ts";

export type OwnRequest = Pick<HttpRequest, "url" | "method" | "headers" | "body">;

export interface SendOptions extends ExchangeOptions {
  /** False for what is not worth a renewal: a goodbye, a cancellation. */
  renews?: boolean;
}

/** A request on its way. */
export interface Sending {
  /** Whether anything of it may have reached the server, other than to be refused. */
  readonly sent: boolean;
  /** Ends it; its receiver fails with this very reason. */
  abort(reason: unknown): void;
}

/** The one way to the server: adds what identifies us to every request, whatever it is for. */
export class Authorization {
  /** Whether the last request showed any credentials: if not, a 401 asks for them, otherwise it refuses them. */
  hasShown: boolean;
  readonly client: HttpClient;
  readonly auth: ServerAuth | undefined;
  readonly #isConfigured: boolean;

  constructor(client: HttpClient, auth: ServerAuth | undefined) {
    this.client = client;
    this.auth = auth;
    this.#isConfigured = hasCredentials(client.headers);
    this.hasShown = this.#isConfigured;
  }

  /** Leaves at once where nothing has to be prepared. Whatever happens, the receiver hears of it. */
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

  /** Takes note of what a provider made for a request. */
  show(made: Readonly<Record<string, string>>): void {
    this.hasShown = this.#isConfigured || Object.keys(made).length > 0;
    for (const [name, value] of Object.entries(made))
      if (name !== "dpop" && value.length >= shortestSecret) this.client.onCredential?.(value);
  }

  /** What may be wrong with credentials that were refused. */
  explain(): string | undefined {
    const { headers, url, now } = this.client;
    const configured = headers["authorization"]?.replace(/^\S+\s+/, "") ?? "";
    return this.auth?.explainRefusal?.() ?? explainToken(configured, url, now());
  }
}

/** Shorter values are flags and the like. */
const shortestSecret = 8;
