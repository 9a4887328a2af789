import { wantsNonce } from "../../../auth/challenge.ts";
import type { ServerAuth } from "../../../auth/server-auth.ts";
import { isPlugboardError, PlugboardError } from "../../../errors.ts";
import type { Authorization, OwnRequest, Sending, SendOptions } from "./authorization.ts";
import { lowerCased } from "./client.ts";
import { type Head, headerText, type Receiver } from "./exchange.ts";
import type { RedirectingExchange } from "./redirect.ts";

/** A request with its own credentials. After a 401, renews them and retries once, and once more for a nonce. */
export class AuthorizedRequest implements Receiver, Sending {
  readonly #authorization: Authorization;
  readonly #auth: ServerAuth;
  readonly #request: OwnRequest;
  readonly #receiver: Receiver;
  readonly #options: SendOptions;
  #exchange: RedirectingExchange | undefined;
  /** A 401 that is read to its end so that its socket can be reused. */
  #refused: Head | undefined;
  /** Runs before the request is sent again. */
  #prepare: () => Promise<void | boolean> = async () => {};
  #hasRenewed = false;
  #hasNonce = false;
  #isOver = false;

  constructor(
    authorization: Authorization,
    auth: ServerAuth,
    request: OwnRequest,
    receiver: Receiver,
    options: SendOptions,
  ) {
    this.#authorization = authorization;
    this.#auth = auth;
    this.#request = request;
    this.#receiver = receiver;
    this.#options = options;
    void this.#attempt();
  }

  get sent(): boolean {
    return this.#exchange?.sent === true && this.#refused === undefined;
  }

  abort(reason: unknown): void {
    if (this.#isOver) return;
    const exchange = this.#exchange;
    this.#refused = undefined;
    if (exchange) return exchange.abort(reason);
    this.failed(reason);
  }

  head(head: Head): void {
    const nonce = headerText(head, "dpop-nonce");
    const noted = nonce === undefined ? undefined : this.#note(nonce);
    if (head.status !== 401) return this.#receiver.head(head);
    const challenge = headerText(head, "www-authenticate") ?? "";
    const isNonce = nonce !== undefined && !this.#hasNonce && wantsNonce(challenge);
    const mayRenew = !this.#hasRenewed && this.#auth.renew !== undefined && this.#options.renews !== false;
    if (!isNonce && !mayRenew) return this.#receiver.head(head);
    this.#refused = head;
    this.#hasNonce = isNonce;
    this.#prepare = async () => {
      if (isNonce) return noted;
      this.#hasRenewed = true;
      return this.#auth.renew?.({ challenge, date: headerText(head, "date") });
    };
  }

  data(chunk: Buffer): void {
    if (!this.#refused) this.#receiver.data(chunk);
  }

  end(): void {
    if (this.#refused) return void this.#repeat();
    this.#isOver = true;
    this.#receiver.end();
  }

  failed(error: unknown): void {
    if (this.#refused && !this.#authorization.client.isClosed) return void this.#repeat();
    if (this.#isOver) return;
    this.#isOver = true;
    this.#receiver.failed(error);
  }

  /** Failing to store a nonce is not fatal: the next proof will be rejected and get a new one. */
  async #note(nonce: string): Promise<void> {
    try {
      await this.#auth.useNonce?.(nonce, this.#request.url);
    } catch {
      // See above.
    }
  }

  async #repeat(): Promise<void> {
    const refused = this.#refused;
    this.#refused = undefined;
    this.#exchange = undefined;
    try {
      const isWorthIt = await this.#prepare();
      if (isWorthIt === false && refused && !this.#isOver) {
        this.#isOver = true;
        this.#receiver.head(refused);
        return this.#receiver.end();
      }
    } catch (error) {
      return this.failed(this.#unusable(error));
    }
    await this.#attempt();
  }

  async #attempt(): Promise<void> {
    const { method, url, headers: own } = this.#request;
    const { client } = this.#authorization;
    if (this.#isOver) return;
    try {
      const made = lowerCased(await this.#auth.headers({ method, url }));
      // Aborted in the meantime, so send nothing.
      if (this.#isOver) return;
      this.#authorization.show(made);
      const headers = { ...client.headers, ...made, ...own };
      this.#exchange = client.exchange({ ...this.#request, headers }, this, this.#options);
    } catch (error) {
      this.failed(this.#unusable(error));
    }
  }

  #unusable(error: unknown): PlugboardError {
    if (isPlugboardError(error)) return error.executed === "no" ? error : error.with({ executed: "no" });
    const { server } = this.#authorization.client;
    const message = `The credentials for "${server}" could not be prepared.`;
    return new PlugboardError("auth-failed", message, { server, cause: error });
  }
}
