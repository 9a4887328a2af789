import { isPlugboardError, PlugboardError } from "../../errors.ts";
import { printable } from "../../lib/printable.ts";
import { isRequest, toJson } from "../rpc/messages.ts";
import type { RpcMessage } from "../rpc/messages.ts";
import { holdCredentials } from "../request-headers.ts";
import { Authorization, type Sending } from "./http/authorization.ts";
import { HttpClient } from "./http/client.ts";
import { acceptEncoding } from "./http/decoder.ts";
import { EventStreamParser, eventLimit, isMessageEvent } from "./http/event-stream.ts";
import type { StreamEvent } from "./http/event-stream.ts";
import type { Head, Receiver } from "./http/exchange.ts";
import { parseMessages } from "./http/incoming.ts";
import { post } from "./http/post.ts";
import { statusError } from "./http/status.ts";
import type { HttpTransportOptions } from "./http/transport.ts";
import type { Transport, TransportEvents, TransportFacts } from "./transport.ts";

export type SseTransportOptions = Omit<HttpTransportOptions, "paramHeaders">;

/**
 * The older HTTP transport: one event stream for messages from the server, POSTs for messages to it. The stream is the
 * session, so when it breaks the connection is lost, and a new one starts with `initialize`.
 */
export class SseTransport implements Transport, Receiver {
  readonly kind = "sse";
  readonly facts: TransportFacts = {};
  readonly #client: HttpClient;
  readonly #authorization: Authorization;
  readonly #opened = Promise.withResolvers<void>();
  /** Our requests that may not have been sent yet. */
  readonly #leaving = new Map<string, Sending>();
  #events: TransportEvents | undefined;
  #stream: Sending | undefined;
  #head: Head | undefined;
  #parser: EventStreamParser | undefined;
  #chunks: Buffer[] = [];
  /** The URL for our messages, sent by the server. */
  #endpoint: URL | undefined;
  #version: string | undefined;
  #lost: PlugboardError | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: SseTransportOptions) {
    this.#client = new HttpClient(options);
    this.#authorization = new Authorization(this.#client, options.auth);
    this.#opened.promise.catch(() => {});
  }

  async start(events: TransportEvents): Promise<void> {
    if (this.#lost) throw this.#lost;
    this.#events = events;
    const headers = { accept: "text/event-stream", "accept-encoding": acceptEncoding };
    const request = { url: this.#client.url, method: "GET", headers } as const;
    this.#stream = this.#authorization.send(request, this, { headersTimeoutMs: 0 });
    try {
      await this.#opened.promise;
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async send(message: RpcMessage, text?: string, own?: Readonly<Record<string, string>>): Promise<void> {
    const endpoint = this.#endpoint;
    if (this.#lost || !endpoint) throw (this.#lost ?? this.#ended()).with({ executed: "no" });
    const version = this.#version === undefined ? {} : { "mcp-protocol-version": this.#version };
    const headers = {
      ...own,
      "content-type": "application/json",
      "accept-encoding": acceptEncoding,
      ...version,
    };
    this.#authorization.showOwn(own);
    // Some servers only respond to the POST when the work is done.
    const { answerTimeoutMs } = this.#client.limits;
    const options = { hadSession: true, headersTimeoutMs: answerTimeoutMs, renews: !holdCredentials(own) };
    const request = { url: endpoint, headers, body: text ?? toJson(message) };
    const { sending, accepted } = post(this.#authorization, request, options);
    if (!isRequest(message)) return accepted;
    this.#leaving.set(message.id, sending);
    return accepted.finally(() => this.#leaving.delete(message.id));
  }

  cancel(requestId: string, reason?: string): void {
    const sending = this.#leaving.get(requestId);
    if (sending && !sending.sent) return sending.abort(new PlugboardError("call-cancelled", "Not sent."));
    if (reason === undefined) return;
    const params = { requestId, reason };
    this.send({ jsonrpc: "2.0", method: "notifications/cancelled", params }).catch(() => {});
  }

  setVersion(version: string): void {
    this.#version = version;
  }

  close(): Promise<void> {
    this.#lose(this.#ended());
    this.#closing ??= this.#client.close();
    return this.#closing;
  }

  head(head: Head): void {
    this.#head = head;
    if (head.status !== 200 || head.type !== "text/event-stream") return;
    this.#parser = new EventStreamParser({
      ...eventLimit(this.#client),
      onEvent: (event) => this.#receive(event, head.url),
    });
  }

  data(chunk: Buffer): void {
    if (this.#parser) this.#parser.push(chunk);
    else this.#chunks.push(chunk);
  }

  end(): void {
    const head = this.#head;
    const body = Buffer.concat(this.#chunks);
    if (this.#parser || !head) this.failed(this.#ended());
    else this.failed(statusError(this.#authorization, { head, body, hadSession: false }));
  }

  failed(error: unknown): void {
    this.#lose(isPlugboardError(error) ? error : this.#ended(error));
    void this.close();
  }

  #receive(event: StreamEvent, url: URL): void {
    if (this.#lost || !this.#events) return;
    if (event.type === "endpoint") {
      this.#endpoint = this.#checked(event.data.toString(), url);
      return this.#opened.resolve();
    }
    if (!isMessageEvent(event) || this.#events.takes(event.data)) return;
    for (const message of this.#readable(event.data))
      this.#events.message(message, undefined, event.data.length);
  }

  /** Skips an event that cannot be parsed; the others may still be valid. */
  #readable(data: Buffer): Record<string, unknown>[] {
    try {
      return parseMessages(data, this.#client);
    } catch {
      return [];
    }
  }

  /** The endpoint must be on the server's own origin, and the managed policy must allow it. */
  #checked(address: string, url: URL): URL {
    const target = URL.parse(address, url.href);
    const { server } = this.#client;
    if (target?.origin === url.origin) {
      const refusal = this.#client.refuses?.(target);
      if (refusal === undefined) return target;
      const why = `"${server}" asked us to send messages to ${target.pathname}, which is ${refusal}; nothing was sent there.`;
      throw new PlugboardError("policy-denied", why, { server });
    }
    const where = target === null || target.origin === "null" ? address.slice(0, 60) : target.origin;
    const shown = printable(where, { oneLine: true });
    const message = `"${server}" asked us to send messages to ${shown}, which is not its own origin; nothing was sent there.`;
    throw new PlugboardError("unexpected-response", message, { server, data: { endpoint: shown } });
  }

  /** Every end of the connection goes through here. */
  #lose(error: PlugboardError): void {
    if (this.#lost) return;
    this.#lost = error;
    this.#stream?.abort(error);
    this.#opened.reject(error);
    this.#events?.closed(error);
  }

  #ended(cause?: unknown): PlugboardError {
    const { server } = this.#client;
    const message = `The event stream of "${server}" has ended.`;
    return new PlugboardError("connection-lost", message, { server, cause });
  }
}
