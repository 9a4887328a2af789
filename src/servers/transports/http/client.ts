import { PlugboardError } from "../../../errors.ts";
import type { Environment } from "../../../lib/folders.ts";
import type { HttpRequest, Receiver } from "./exchange.ts";
import { type HttpNetwork, HttpPool } from "./pool.ts";
import { RedirectingExchange, type RefusesUrl } from "./redirect.ts";

export interface HttpLimits {
  connectTimeoutMs: number;
  /** How long to wait for response headers, except for messages to the server and event streams. */
  headersTimeoutMs: number;
  /** The same for messages. Callers have shorter deadlines; this one cleans up abandoned requests. */
  answerTimeoutMs: number;
  /** The longest pause inside a response. */
  bodyIdleMs: number;
  /** The longest pause on an event stream. 0, the default, means no limit: keep-alive and deadlines are enough. */
  streamIdleMs: number;
  /** The limit for one response after decompression, and for one event of a stream. */
  maxBodyBytes: number;
}

type HeaderRecord = Readonly<Record<string, string>>;

export interface HttpClientConfig {
  server: string;
  url: URL;
  /** Sent only to the server's own origin. */
  headers?: HeaderRecord | undefined;
  network?: HttpNetwork | undefined;
  /** The source of the proxy variables. */
  env?: Environment | undefined;
  limits?: Partial<HttpLimits> | undefined;
  /** Milliseconds since the epoch. */
  now?: (() => number) | undefined;
  /** Applied to text from the server before it becomes part of an error. */
  redact?: ((text: string) => string) | undefined;
  /** Why the managed policy does not allow another URL of the server. */
  refuses?: RefusesUrl | undefined;
  /** Called with every credential that is sent. */
  onCredential?: ((value: string) => void) | undefined;
}

const defaults: HttpLimits = {
  connectTimeoutMs: 10_000,
  headersTimeoutMs: 60_000,
  answerTimeoutMs: 600_000,
  bodyIdleMs: 60_000,
  streamIdleMs: 0,
  maxBodyBytes: 33_554_432,
};

export interface ExchangeOptions {
  headersTimeoutMs?: number;
  bodyIdleMs?: number;
  handBackRedirects?: boolean;
}

/** The HTTP client for one server: its sockets, headers and limits. */
export class HttpClient {
  readonly server: string;
  readonly url: URL;
  readonly limits: HttpLimits;
  readonly now: () => number;
  readonly redact: (text: string) => string;
  /** The configured headers, with lower-case names. */
  readonly headers: HeaderRecord;
  readonly onCredential: ((value: string) => void) | undefined;
  readonly refuses: RefusesUrl | undefined;
  isClosed = false;
  readonly #pool: HttpPool;

  constructor(config: HttpClientConfig) {
    const { server, url, network = {}, env = {} } = config;
    checkUrl(server, url);
    this.server = server;
    this.url = url;
    this.limits = { ...defaults, ...config.limits };
    this.now = config.now ?? Date.now;
    this.redact = config.redact ?? ((text) => text);
    this.refuses = config.refuses;
    this.onCredential = config.onCredential;
    this.headers = lowerCased(config.headers ?? {});
    const { authorization } = this.headers;
    if (authorization !== undefined) this.onCredential?.(authorization);
    const { connectTimeoutMs } = this.limits;
    this.#pool = new HttpPool({ server, origin: url.origin, network, env, connectTimeoutMs });
  }

  exchange(
    request: Pick<HttpRequest, "url" | "method" | "headers" | "body">,
    receiver: Receiver,
    options: ExchangeOptions = {},
  ): RedirectingExchange {
    const { streamIdleMs, maxBodyBytes } = this.limits;
    const { headersTimeoutMs = this.limits.headersTimeoutMs, bodyIdleMs = this.limits.bodyIdleMs } = options;
    const { url, method, headers, body } = request;
    const bounded = { url, method, headers, body, headersTimeoutMs, bodyIdleMs, streamIdleMs, maxBodyBytes };
    return new RedirectingExchange(
      { server: this.server, pool: this.#pool, refuses: this.refuses },
      bounded,
      receiver,
      options.handBackRedirects ?? false,
    );
  }

  close(): Promise<void> {
    this.isClosed = true;
    return this.#pool.close();
  }
}

export function lowerCased(headers: HeaderRecord): HeaderRecord {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function checkUrl(server: string, url: URL): void {
  const problem =
    url.protocol !== "http:" && url.protocol !== "https:"
      ? "is neither http nor https"
      : url.username !== "" || url.password !== ""
        ? "holds credentials"
        : undefined;
  if (problem === undefined) return;
  const hint = "Use an http or https URL, and put credentials in `headers`.";
  throw new PlugboardError("config-invalid", `The URL of "${server}" ${problem}.`, { server, hint });
}
