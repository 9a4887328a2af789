import { PlugboardError } from "../../../errors.ts";
import type { ServerAuth } from "../../../auth/server-auth.ts";
import { isRequest, toJson } from "../../rpc/messages.ts";
import type { RpcMessage, RpcRequest } from "../../rpc/messages.ts";
import { isModernRevision } from "../../rpc/revisions.ts";
import { holdCredentials } from "../../request-headers.ts";
import { waitAtMost } from "../../wait-at-most.ts";
import type { Transport, TransportEvents, TransportFacts } from "../transport.ts";
import { Authorization, type SendOptions } from "./authorization.ts";
import { HttpCall } from "./call.ts";
import { HttpClient, type HttpClientConfig } from "./client.ts";
import { acceptEncoding } from "./decoder.ts";
import { type Head, headerText } from "./exchange.ts";
import { checkSessionId, envelopeVersion, routingHeaders } from "./headers.ts";
import { post } from "./post.ts";
import { PushStream } from "./push-stream.ts";
import { resumeCall } from "./resume.ts";

export interface HttpTransportOptions extends HttpClientConfig {
  auth?: ServerAuth | undefined;
  /** The `Mcp-Param-*` headers of a modern request, encoded (`encodeHeaderValue`). */
  paramHeaders?:
    | ((method: string, params: Record<string, unknown>) => Readonly<Record<string, string>> | undefined)
    | undefined;
}

const deleteSessionTimeoutMs = 1_000;
const cancelTimeoutMs = 5_000;

/** Streamable HTTP: one POST for each message, and in the legacy era a session with a stream of its own. */
export class HttpTransport implements Transport {
  readonly kind = "http";
  readonly facts: TransportFacts = {};
  readonly #client: HttpClient;
  readonly #authorization: Authorization;
  readonly #paramHeaders: HttpTransportOptions["paramHeaders"];
  readonly #calls = new Map<string, HttpCall>();
  #events: TransportEvents | undefined;
  #sessionId: string | undefined;
  #version: string | undefined;
  #push: PushStream | undefined;
  #lost: PlugboardError | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: HttpTransportOptions) {
    this.#client = new HttpClient(options);
    this.#authorization = new Authorization(this.#client, options.auth);
    this.#paramHeaders = options.paramHeaders;
  }

  get sessionId(): string | undefined {
    return this.#sessionId;
  }

  async start(events: TransportEvents): Promise<void> {
    if (this.#lost) throw this.#lost;
    this.#events = events;
  }

  send(message: RpcMessage, text?: string, own?: Readonly<Record<string, string>>): void | Promise<void> {
    if (this.#lost || !this.#events) throw this.#closedError("no");
    const body = text ?? toJson(message);
    return isRequest(message) ? this.#call(message, body, this.#events, own) : this.#post(message, body);
  }

  cancel(id: string, reason?: string): void {
    const call = this.#calls.get(id);
    if (call === undefined) return;
    const stop = () =>
      call.stop(new PlugboardError("call-cancelled", reason ?? "The request was abandoned."));
    const isModern = isModernRevision(envelopeVersion(call.request));
    if (reason === undefined || isModern || !call.wasSent) return stop();
    const params = { requestId: id, reason };
    const message = { jsonrpc: "2.0", method: "notifications/cancelled", params } as const;
    // If the cancellation fails, the server keeps working, but its answer is ignored.
    const options = { headersTimeoutMs: cancelTimeoutMs, renews: false };
    void this.#post(message, toJson(message), options, call.headers)
      .catch(() => {})
      .finally(stop);
  }

  setVersion(version: string): void {
    this.#version = version;
  }

  /** Deletes the session on the server if possible, then ends every request, timer and socket. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #call(
    request: RpcRequest,
    body: string,
    events: TransportEvents,
    own: Readonly<Record<string, string>> | undefined,
  ): void {
    const version = envelopeVersion(request);
    const isModern = isModernRevision(version);
    const call = new HttpCall(request, {
      authorization: this.#authorization,
      headers: own,
      events,
      hadSession: this.#sessionId !== undefined && !isModern,
      onSuccess: request.method === "initialize" ? (head) => this.#beginSession(head) : undefined,
      resume: isModern ? undefined : (broken) => this.#resume(broken),
      finished: (id) => this.#calls.delete(id),
    });
    this.#calls.set(request.id, call);
    const headers: Record<string, string> = { ...own, ...this.#sessionHeaders(), ...postHeaders };
    if (own) this.#authorization.showOwn(own);
    if (version !== undefined) {
      Object.assign(headers, this.#paramHeaders?.(request.method, request.params), routingHeaders(request));
      headers["mcp-protocol-version"] = version;
    }
    const { url } = this.#client;
    // The caller enforces the deadline.
    const options = { headersTimeoutMs: 0, bodyIdleMs: 0, renews: !holdCredentials(own) };
    call.follow(this.#authorization.send({ url, method: "POST", headers, body }, call, options));
  }

  async #post(
    message: RpcMessage,
    body: string,
    options: SendOptions = {},
    own?: Readonly<Record<string, string>>,
  ): Promise<void> {
    const { url, limits } = this.#client;
    const isModern = "method" in message && isModernRevision(this.#version);
    const headers = {
      ...own,
      ...this.#sessionHeaders(),
      ...postHeaders,
      ...(isModern && routingHeaders(message)),
    };
    const { accepted } = post(
      this.#authorization,
      { url, headers, body },
      { hadSession: this.#sessionId !== undefined, headersTimeoutMs: limits.answerTimeoutMs, ...options },
    );
    await accepted;
    if ("method" in message && message.method === "notifications/initialized") this.#listen();
  }

  #resume(call: HttpCall): void {
    resumeCall(call, { authorization: this.#authorization, headers: () => this.#sessionHeaders() });
  }

  #beginSession(head: Head): void {
    const id = headerText(head, "mcp-session-id");
    checkSessionId(this.#client.server, id);
    this.#sessionId = id;
  }

  /**
   * Answers to requests that the server only accepted may arrive on this stream too. They are not offered as bytes,
   * because we need to know which request they belong to.
   */
  #listen(): void {
    const events = this.#events;
    if (!events || this.#lost) return;
    const onMessage = (message: Record<string, unknown>) => {
      const { id } = message;
      if (typeof id === "string" && !("method" in message)) this.#calls.delete(id);
      events.message(message);
    };
    this.#push ??= new PushStream({
      authorization: this.#authorization,
      onMessage,
      onReopened: () => events.missed(),
      onDoubted: () => events.doubted(),
      headers: () => this.#sessionHeaders(),
    });
    this.#push.open();
  }

  #sessionHeaders(): Record<string, string> {
    return {
      "accept-encoding": acceptEncoding,
      ...(this.#sessionId !== undefined && { "mcp-session-id": this.#sessionId }),
      ...(this.#version !== undefined && { "mcp-protocol-version": this.#version }),
    };
  }

  async #close(): Promise<void> {
    this.#lost = this.#closedError("maybe");
    this.#push?.close();
    for (const call of this.#calls.values()) call.stop(this.#lost);
    this.#events?.closed(this.#lost);
    if (this.#sessionId !== undefined) await this.#sayGoodbye();
    await this.#client.close();
  }

  async #sayGoodbye(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const receiver = { head() {}, data() {}, end: resolve, failed: () => resolve() };
    const request = { url: this.#client.url, method: "DELETE", headers: this.#sessionHeaders() } as const;
    const sending = this.#authorization.send(request, receiver, { renews: false });
    await waitAtMost(promise, deleteSessionTimeoutMs);
    sending.abort(this.#lost);
  }

  #closedError(executed: "no" | "maybe"): PlugboardError {
    const { server } = this.#client;
    return new PlugboardError("connection-lost", `The connection to "${server}" is closed.`, {
      server,
      executed,
    });
  }
}

const postHeaders = {
  accept: "application/json, text/event-stream",
  "content-type": "application/json",
};
