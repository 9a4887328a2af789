import { PlugboardError } from "../../../errors.ts";
import type { Environment } from "../../../lib/folders.ts";
import type { HttpRequest, Receiver } from "./exchange.ts";
import { type HttpNetwork, HttpPool } from "./pool.ts";
import { HttpJourney } from "./redirect.ts";

export interface HttpLimits {
  connectTimeoutMs: number;
  /** Until an answer begins, for everything but messages to the server and event streams. */
  headersTimeoutMs: number;
  /** The same for messages: their callers keep shorter deadlines, this one ends what they left behind. */
  answerTimeoutMs: number;
  /** Silence inside an answer. */
  bodyIdleMs: number;
  /** Silence on an event stream. 0 (the default) allows any: TCP keep-alive finds dead peers, callers the slow ones. */
  streamIdleMs: number;
  /** For one answer after decompression, and for one event of a stream. */
  maxBodyBytes: number;
}

type HeaderRecord = Readonly<Record<string, string>>;

export interface HttpClientConfig {
  server: string;
  url: URL;
  /** Sent to the server's own origin and nowhere else. */
  headers?: HeaderRecord | undefined;
  network?: HttpNetwork | undefined;
  /** Where the proxy variables are read. */
  env?: Environment | undefined;
  limits?: Partial<HttpLimits> | undefined;
  /** Milliseconds since the epoch. */
  now?: (() => number) | undefined;
  /** Applied to what a server said before it becomes part of an error. */
  redact?: ((text: string) => string) | undefined;
  /** Hears of every credential that is sent. */
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

/** Everything sent to one server: its sockets, its headers, its limits. */
export class HttpClient {
  readonly server: string;
  readonly url: URL;
  readonly limits: HttpLimits;
  readonly now: () => number;
  readonly redact: (text: string) => string;
  /** The configured headers, in small letters. */
  readonly headers: HeaderRecord;
  readonly onCredential: ((value: string) => void) | undefined;
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
  ): HttpJourney {
    const { streamIdleMs, maxBodyBytes } = this.limits;
    const { headersTimeoutMs = this.limits.headersTimeoutMs, bodyIdleMs = this.limits.bodyIdleMs } = options;
    const { url, method, headers, body } = request;
    const bounded = { url, method, headers, body, headersTimeoutMs, bodyIdleMs, streamIdleMs, maxBodyBytes };
    return new HttpJourney(this.server, this.#pool, bounded, receiver, options.handBackRedirects ?? false);
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
  const hint = "Use an http or https URL, and put credentials into `headers`.";
  throw new PlugboardError("config-invalid", `The URL of "${server}" ${problem}.`, { server, hint });
}
