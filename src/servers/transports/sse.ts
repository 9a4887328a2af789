import {
  extractWWWAuthenticateParams,
  type FetchLike,
  type JSONRPCMessage,
  SdkHttpError,
  SseError,
  SSEClientTransport,
  type SSEClientTransportOptions,
  type Transport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { isPlugboardError, PlugboardError } from "../../errors.ts";
import { printable } from "../../lib/printable.ts";
import { Lane } from "../rpc/lane.ts";
import { HttpClient } from "./http/client.ts";
import { signing } from "./http/credentials.ts";
import type { StreamEvent } from "./http/event-stream.ts";
import { httpFailure, insufficientScope } from "./http/failure.ts";
import { createHttpFetch } from "./http/fetch.ts";
import { readableLength, statusError, unexpected } from "./http/status.ts";
import type { HttpTransportOptions } from "./http/transport.ts";

export interface SseTransportOptions extends Omit<HttpTransportOptions, "paramHeaders" | "sdk"> {
  sdk?: Omit<SSEClientTransportOptions, "fetch" | "requestInit" | "authProvider" | "eventSourceInit">;
}

/**
 * The older transport: one event stream for everything the server says, POSTs for everything we say. The session is
 * the stream, so when it breaks the connection is over; whoever opens a new one begins with `initialize`.
 */
export class SseTransport implements Transport {
  onclose: (() => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  onmessage: Transport["onmessage"];
  readonly lane: Lane;
  readonly #client: HttpClient;
  readonly #sdk: SSEClientTransport;
  readonly #ended = Promise.withResolvers<never>();
  #isOpen = false;
  #failure: PlugboardError | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: SseTransportOptions) {
    const { authProvider, sdk = {} } = options;
    this.#client = new HttpClient(options);
    const fetch = createHttpFetch(this.#client, {
      onEvent: (event, url) => this.#checkEndpoint(event, url),
      onFailure: (error) => {
        if (this.#closing === undefined) this.#failure ??= this.#translate(error);
      },
    });
    this.#sdk = new SSEClientTransport(this.#client.url, {
      ...sdk,
      ...(authProvider && { authProvider }),
      fetch: signing(authProvider, (url, init) => this.#fetch(fetch, url, init)),
    });
    const listeners: Pick<Transport, "onmessage" | "onerror"> = {
      onmessage: (message) => {
        if (!this.lane.accept(message)) this.onmessage?.(message);
      },
      onerror: (error) => this.#streamFailed(error),
    };
    Object.assign(this.#sdk, listeners);
    this.#ended.promise.catch(() => {});
    this.lane = new Lane({
      server: options.server,
      send: (request) =>
        this.#sdk.send(request).catch((error: unknown) => Promise.reject(this.#translate(error))),
      cancel: (requestId, reason) => {
        const params = { requestId, reason };
        this.#sdk.send({ jsonrpc: "2.0", method: "notifications/cancelled", params }).catch(() => {});
      },
    });
  }

  /** Why it is over, when that was the server's doing. */
  get lost(): PlugboardError | undefined {
    return this.#closing && this.#failure;
  }

  async start(): Promise<void> {
    try {
      await Promise.race([this.#sdk.start(), this.#ended.promise]);
      this.#isOpen = true;
    } catch (error) {
      await this.close();
      // The SDK's own words for a sign-in that is needed are what its client waits for.
      const isAuth = UnauthorizedError.isInstance(error) || SdkHttpError.isInstance(error);
      throw this.#failure === undefined && isAuth ? error : this.#translate(error);
    }
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (this.#closing !== undefined) return Promise.reject(this.#lost());
    return this.#sdk.send(message);
  }

  setProtocolVersion(version: string): void {
    this.#sdk.setProtocolVersion(version);
  }

  finishAuth(params: URLSearchParams): Promise<void> {
    return this.#sdk.finishAuth(params);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const reason = this.#failure ?? this.#lost();
    this.lane.close(reason);
    this.#ended.reject(reason);
    await this.#sdk.close();
    await this.#client.close();
    this.onclose?.();
  }

  /** The SDK drops the reasons of failed requests, so they are turned into errors before it sees them. */
  async #fetch(fetch: FetchLike, url: string | URL, init: RequestInit = {}): Promise<Response> {
    const isStream =
      (init.method ?? "GET") === "GET" && new Headers(init.headers).get("accept") === "text/event-stream";
    try {
      const response = await fetch(url, init);
      const isEvents = (response.headers.get("content-type") ?? "").startsWith("text/event-stream");
      const isMine = isStream || isMessage(init.body);
      if (!isMine || response.status === 401) return response;
      if (response.ok && (!isStream || isEvents)) return response;
      const { server, redact } = this.#client;
      const { error, scope = "" } = response.status === 403 ? extractWWWAuthenticateParams(response) : {};
      if (error === "insufficient_scope") throw insufficientScope(server, redact(scope));
      const { status, headers } = response;
      const contentType = redact(headers.get("content-type") ?? "") || undefined;
      const text = redact((await response.text()).slice(0, readableLength));
      if (response.ok) throw unexpected({ server, status, contentType, text });
      const retryAfter = headers.get("retry-after") ?? undefined;
      throw statusError({
        server,
        status,
        contentType,
        retryAfter,
        text,
        hadSession: !isStream,
        now: this.#client.now(),
      });
    } catch (error) {
      if (isStream && !init.signal?.aborted) this.#failure = this.#translate(error);
      throw error;
    }
  }

  /** The address for our messages may be anywhere on the same origin, and nowhere else. */
  #checkEndpoint(event: StreamEvent, url: URL): void {
    if (event.type !== "endpoint") return;
    const target = URL.canParse(event.data, url.href) ? new URL(event.data, url) : undefined;
    if (target?.origin === url.origin) return;
    const { server } = this.#client;
    const where = target === undefined || target.origin === "null" ? event.data.slice(0, 60) : target.origin;
    const shown = printable(where, { oneLine: true });
    const message = `"${server}" wanted our messages sent to ${shown}, which is not its own origin; nothing was sent there.`;
    throw new PlugboardError("unexpected-response", message, { server, data: { endpoint: shown } });
  }

  #streamFailed(error: Error): void {
    if (this.#closing !== undefined) return;
    this.onerror?.(error);
    // Errors of single POSTs are ours or the SDK's plain ones; only the stream's own end the connection.
    if (!this.#isOpen || !SseError.isInstance(error)) return;
    this.#failure ??= this.#lost(error);
    void this.close();
  }

  #translate(error: unknown): PlugboardError {
    if (isPlugboardError(error)) return error;
    const { server, redact, now } = this.#client;
    return this.#failure ?? httpFailure(error, { server, redact, hadSession: true, now: now() });
  }

  #lost(cause?: unknown): PlugboardError {
    const { server } = this.#client;
    return new PlugboardError("connection-lost", `The event stream of "${server}" has ended.`, {
      server,
      cause,
    });
  }
}

function isMessage(body: RequestInit["body"]): boolean {
  return typeof body === "string" && body.includes('"jsonrpc"');
}
