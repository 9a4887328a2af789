import type { FetchLike } from "@modelcontextprotocol/client";
import { PlugboardError } from "../../../errors.ts";
import { isRecord } from "../../../lib/record.ts";
import { Lane, type LaneRequest } from "../../rpc/lane.ts";
import { HttpCall } from "./call.ts";
import type { HttpClient } from "./client.ts";
import { acceptEncoding } from "./decoder.ts";
import type { Receiver } from "./exchange.ts";
import { bearer, envelopeVersion, isModernVersion, routingHeaders } from "./headers.ts";
import { resumeCall } from "./resume.ts";

export type TokenSource = () => string | undefined | Promise<string | undefined>;

export interface HttpLaneSettings {
  client: HttpClient;
  /** What the handshake agreed on. */
  session(): { id: string | undefined; version: string | undefined };
  token: TokenSource | undefined;
  /** The `Mcp-Param-*` headers of a request, encoded. */
  paramHeaders:
    | ((method: string, params: Record<string, unknown>) => Readonly<Record<string, string>> | undefined)
    | undefined;
  pass(message: unknown): void;
  report(error: Error): void;
  /** Sends through the SDK; undefined when that could not do better than we can. */
  reissue:
    | ((
        request: LaneRequest,
        headers: Readonly<Record<string, string>>,
        signal: AbortSignal,
      ) => Promise<void>)
    | undefined;
  /** Leaves everything to `reissue`, for credentials that sign every request. */
  alwaysReissue(): boolean;
  /** Signs as those credentials do, for what cannot go through `reissue`. */
  fetch: FetchLike;
}

const cancelTimeoutMs = 5_000;
const postHeaders = {
  accept: "application/json, text/event-stream",
  "accept-encoding": acceptEncoding,
  "content-type": "application/json",
};

/** Requests of our own over HTTP: one POST each, without the SDK's work per message. */
export class HttpLane {
  readonly lane: Lane;
  readonly #settings: HttpLaneSettings;
  readonly #open = new Map<string, HttpCall>();

  constructor(settings: HttpLaneSettings) {
    this.#settings = settings;
    const { server } = settings.client;
    this.lane = new Lane({
      server,
      send: (request) => this.#send(request),
      cancel: (id, reason) => this.#cancel(id, reason),
    });
  }

  /** For messages that arrived another way: on the server's own stream, or after a sign-in. */
  accept(message: unknown): boolean {
    if (!this.lane.accept(message)) return false;
    if (isRecord(message) && typeof message["id"] === "string") this.#open.delete(message["id"]);
    return true;
  }

  close(): void {
    this.lane.close();
    const reason = new PlugboardError("connection-lost", "The connection is closed.");
    for (const call of this.#open.values()) call.stop(reason);
  }

  #send(request: LaneRequest): void | Promise<void> {
    const { client, session, pass, report } = this.#settings;
    const isModern = isModernVersion(envelopeVersion(request));
    const call = new HttpCall(request, {
      client,
      lane: this.lane,
      hadSession: session().id !== undefined && !isModern,
      pass,
      report,
      reissue: (call) => this.#reissue(call),
      resume: isModern ? undefined : (call) => this.#resume(call),
      finished: (id) => this.#open.delete(id),
    });
    this.#open.set(request.id, call);
    const forget = (error: unknown): never => {
      this.#open.delete(request.id);
      throw error;
    };
    try {
      return this.#begin(call)?.catch(forget);
    } catch (error) {
      forget(error);
    }
  }

  #begin(call: HttpCall): Promise<void> | undefined {
    if (this.#settings.alwaysReissue()) {
      this.#reissue(call);
      return undefined;
    }
    const headers = this.#headers();
    if (!(headers instanceof Promise)) {
      this.#post(call, headers);
      return undefined;
    }
    return headers.then((value) => {
      if (this.#open.has(call.request.id)) this.#post(call, value);
    });
  }

  #post(call: HttpCall, headers: Record<string, string>): void {
    const { client, paramHeaders } = this.#settings;
    const { request } = call;
    Object.assign(headers, postHeaders);
    const version = envelopeVersion(request);
    if (version !== undefined) {
      Object.assign(headers, paramHeaders?.(request.method, request.params), routingHeaders(request));
      headers["mcp-protocol-version"] = version;
    }
    const post = { url: client.url, method: "POST", headers, body: JSON.stringify(request) } as const;
    // The lane keeps the deadline of the whole call.
    call.travel(client.exchange(post, call, { headersTimeoutMs: 0, bodyIdleMs: 0 }));
  }

  /** Configured headers, token and session, in a new object; a promise only when one of them is. */
  #headers(): Record<string, string> | Promise<Record<string, string>> {
    const { client, token: source, session } = this.#settings;
    const combine = (configured: Readonly<Record<string, string>>, token: string | undefined) => {
      const headers: Record<string, string> = { ...configured };
      const { id, version } = session();
      if (token) headers["authorization"] = bearer(client.server, token);
      if (id !== undefined) headers["mcp-session-id"] = id;
      if (version !== undefined) headers["mcp-protocol-version"] = version;
      return headers;
    };
    const configured = client.headers();
    const token = source?.();
    if (!(configured instanceof Promise) && !(token instanceof Promise)) return combine(configured, token);
    return Promise.all([configured, token]).then(([headers, value]) => combine(headers, value));
  }

  #reissue(call: HttpCall): boolean {
    const { reissue, paramHeaders } = this.#settings;
    const { id, method, params } = call.request;
    if (reissue === undefined) return false;
    const controller = new AbortController();
    call.undo = (reason) => controller.abort(reason);
    const extra = envelopeVersion(call.request) === undefined ? undefined : paramHeaders?.(method, params);
    reissue(call.request, extra ?? {}, controller.signal).catch((error: PlugboardError) => {
      if (this.#open.has(id)) call.reject(error);
    });
    return true;
  }

  #resume(call: HttpCall): void {
    const { client, alwaysReissue, fetch } = this.#settings;
    // What the call began with may have been replaced meanwhile by credentials that sign.
    const signed = () => (alwaysReissue() ? fetch : undefined);
    resumeCall(call, { client, headers: () => this.#headers(), signed });
  }

  #cancel(id: string, reason: string): void {
    const call = this.#open.get(id);
    if (call === undefined) return;
    const stop = () => call.stop(new PlugboardError("call-cancelled", reason));
    const wasSent = call.journey === undefined || call.journey.sent;
    if (isModernVersion(envelopeVersion(call.request)) || !wasSent) return stop();
    void this.#notifyCancelled(id, reason).finally(stop);
  }

  async #notifyCancelled(requestId: string, reason: string): Promise<void> {
    const { client, alwaysReissue, fetch } = this.#settings;
    const params = { requestId, reason };
    const body = JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params });
    try {
      const headers = { ...(await this.#headers()), ...postHeaders };
      if (alwaysReissue()) {
        const signal = AbortSignal.timeout(cancelTimeoutMs);
        const response = await fetch(client.url, { method: "POST", headers, body, signal });
        await response.body?.cancel();
        return;
      }
      await new Promise<void>((resolve) => {
        const done = () => resolve();
        const receiver: Receiver = { head: done, data() {}, end: done, failed: done };
        client.exchange({ url: client.url, method: "POST", headers, body }, receiver, {
          headersTimeoutMs: cancelTimeoutMs,
        });
      });
    } catch {
      // Nobody waits for the answer any more; a server that cannot be told goes on in vain.
    }
  }
}
