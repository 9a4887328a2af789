import { PlugboardError } from "../../../errors.ts";
import { printable } from "../../../lib/printable.ts";
import { type Head, HttpExchange, type HttpRequest, type Receiver } from "./exchange.ts";
import type { HttpPool } from "./pool.ts";

const redirects = new Set([301, 302, 303, 307, 308]);
const maxHops = 5;

/** Why a request may not go to a URL; undefined if it may. */
export type RefusesUrl = (url: URL) => string | undefined;

/**
 * An exchange that follows redirects, but only within the origin of the request, only to what the managed policy allows
 * and only if the method and body stay the same. Neither body nor headers are ever sent anywhere else.
 */
export class RedirectingExchange implements Receiver {
  readonly #server: string;
  readonly #pool: HttpPool;
  readonly #receiver: Receiver;
  readonly #refuses: RefusesUrl | undefined;
  /** If a redirect is not followed, passes the response to the receiver instead of failing. */
  readonly #handBack: boolean;
  #request: HttpRequest;
  #exchange: HttpExchange;
  #hops = 0;

  constructor(
    { server, pool, refuses }: { server: string; pool: HttpPool; refuses: RefusesUrl | undefined },
    request: HttpRequest,
    receiver: Receiver,
    handBack: boolean,
  ) {
    this.#server = server;
    this.#pool = pool;
    this.#refuses = refuses;
    this.#request = request;
    this.#receiver = receiver;
    this.#handBack = handBack;
    this.#exchange = new HttpExchange(server, request, pool.route(request.url), this);
    this.#exchange.start();
  }

  get sent(): boolean {
    return this.#hops > 0 || this.#exchange.sent;
  }

  abort(reason: unknown): void {
    this.#exchange.abort(reason);
  }

  head(head: Head): void {
    const location = redirects.has(head.status) ? head.headers["location"] : undefined;
    if (typeof location !== "string" || !URL.canParse(location, head.url.href))
      return this.#receiver.head(head);
    const target = new URL(location, head.url);
    const refusal = this.#refusal(head, target);
    if (refusal === undefined) this.#follow(target);
    else if (this.#handBack) this.#receiver.head(head);
    else this.#exchange.abort(redirectError(this.#server, head.status, target, refusal));
  }

  data(chunk: Buffer): void {
    this.#receiver.data(chunk);
  }

  end(): void {
    this.#receiver.end();
  }

  failed(error: unknown): void {
    if (error !== followed) this.#receiver.failed(error);
  }

  #follow(target: URL): void {
    const previous = this.#exchange;
    this.#hops++;
    target.hash = "";
    this.#request = { ...this.#request, url: target };
    this.#exchange = new HttpExchange(this.#server, this.#request, this.#pool.route(target), this);
    previous.abort(followed);
    this.#exchange.start();
  }

  #refusal(head: Head, target: URL): string | undefined {
    if (head.url.protocol === "https:" && target.protocol === "http:") return "without encryption";
    if (target.origin !== head.url.origin) return "another origin";
    if (target.username !== "" || target.password !== "") return "with other credentials";
    const keepsMethod = this.#request.method === "GET" || head.status === 307 || head.status === 308;
    if (!keepsMethod) return "which would drop the request";
    if (this.#refuses?.(target) !== undefined) return "which the managed policy does not allow";
    return this.#hops >= maxHops ? "after too many redirects" : undefined;
  }
}

/** The reason for aborting an exchange that was replaced by the redirected one. */
const followed = new Error("redirect followed");

function redirectError(server: string, status: number, target: URL, refusal: string): PlugboardError {
  const location = printable(target.origin === "null" ? target.protocol : target.origin + target.pathname, {
    oneLine: true,
  });
  return new PlugboardError(
    "unexpected-response",
    `"${server}" tried to redirect us to ${location} (HTTP ${status}, ${refusal}); nothing was sent there.`,
    {
      server,
      data: { status, location },
      hint: "If the server has moved there, set its `url` to the new address.",
    },
  );
}
