import type { PlugboardError } from "../../errors.ts";
import type { Transport, TransportEvents } from "../transports/transport.ts";
import { Inbound } from "./inbound.ts";
import type { Listener } from "./inbound.ts";
import { toJson } from "./messages.ts";
import { Requests } from "./requests.ts";
import type { Cleaner } from "./requests.ts";

export interface RpcSettings {
  server: string;
  transport: Transport;
  /** Whoever answers when no request is under way, and hears every notification. */
  otherwise: Listener;
  /** A question came that could not be tied to one request. */
  onUntold?: (() => void) | undefined;
  /** The connection has ended, and why. */
  onClosed(error: PlugboardError): void;
  /** Takes what is secret out of errors, progress and notifications. */
  redaction?: Cleaner | undefined;
  now?: (() => number) | undefined;
}

/** JSON-RPC over one transport: our requests and what the server says by itself. */
export class Rpc implements TransportEvents {
  readonly requests: Requests;
  readonly inbound: Inbound;
  /** Why it is over. */
  lost: PlugboardError | undefined;
  readonly #transport: Transport;
  readonly #onClosed: (error: PlugboardError) => void;

  constructor({ server, transport, otherwise, redaction, onUntold, onClosed, now }: RpcSettings) {
    this.#transport = transport;
    this.#onClosed = onClosed;
    this.requests = new Requests({
      server,
      send: (request, text) => transport.send(request, text),
      cancel: (id, reason) => transport.cancel(id, reason),
      redaction,
      now,
    });
    this.inbound = new Inbound({
      requests: this.requests,
      redaction,
      otherwise,
      onUntold,
      send: (message) => transport.send(message, toJson(message)),
    });
  }

  start(): Promise<void> {
    return this.#transport.start(this);
  }

  async notify(method: string, params: Record<string, unknown> = {}): Promise<void> {
    const message = { jsonrpc: "2.0", method, params } as const;
    await this.#transport.send(message, toJson(message));
  }

  get wantsBytes(): boolean {
    return this.requests.wantsBytes;
  }

  takes(bytes: Buffer): boolean {
    return this.requests.takes(bytes);
  }

  message(message: Record<string, unknown>, during?: string, bytes?: number): void {
    if (!this.requests.accepts(message, bytes)) this.inbound.receive(message, during);
  }

  failed(id: string, error: PlugboardError): void {
    this.requests.fail(id, error);
  }

  closed(error: PlugboardError): void {
    if (this.lost) return;
    this.lost = error;
    this.requests.close(error);
    this.inbound.close(error);
    this.#onClosed(error);
  }
}
