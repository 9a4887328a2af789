import type { PlugboardError } from "../../errors.ts";
import type { Transport, TransportEvents } from "../transports/transport.ts";
import { Inbound } from "./inbound.ts";
import type { Otherwise } from "./inbound.ts";
import { boundedDepth } from "./depth.ts";
import { toJson } from "./messages.ts";
import { Requests } from "./requests.ts";
import type { Cleaner, RequestSettings } from "./requests.ts";
import { exactId } from "../../lib/exact-json.ts";

export interface RpcSettings {
  server: string;
  transport: Transport;
  /** Whoever answers when no request is under way, and hears every notification. */
  otherwise: Otherwise;
  /** A question came that could not be tied to one request. */
  onUntold?: (() => void) | undefined;
  /** What the server said by itself may not have arrived. */
  onMissed?: (() => void) | undefined;
  /** The server may no longer know the session. */
  onDoubted?: (() => void) | undefined;
  /** A line came that is not a message. */
  onSkipped?: ((line: string) => void) | undefined;
  /** The connection has ended, and why. */
  onClosed(error: PlugboardError): void;
  /** Takes what is secret out of errors, progress and notifications. */
  redaction?: Cleaner | undefined;
  traced?: RequestSettings["traced"];
  now?: (() => number) | undefined;
}

/** JSON-RPC over one transport: our requests and what the server says by itself. */
export class Rpc implements TransportEvents {
  readonly requests: Requests;
  readonly inbound: Inbound;
  /** Why it is over. */
  lost: PlugboardError | undefined;
  /** How many messages have come: a server that says anything is not silent. */
  heard = 0;
  readonly #transport: Transport;
  readonly #settings: Pick<RpcSettings, "onMissed" | "onDoubted" | "onSkipped" | "onClosed">;

  constructor(settings: RpcSettings) {
    const { server, transport, otherwise, redaction, traced, onUntold, now } = settings;
    this.#transport = transport;
    this.#settings = settings;
    this.requests = new Requests({
      server,
      send: (request, text, headers) => transport.send(request, text, headers),
      cancel: (id, reason) => transport.cancel(id, reason),
      redaction,
      traced,
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
    this.heard++;
    return this.requests.takes(bytes);
  }

  message(received: Record<string, unknown>, during?: string, bytes?: number): void {
    this.heard++;
    const message = boundedDepth(received, bytes);
    // Nobody may be asked something else than what the server meant.
    if (message !== received && "method" in message && "id" in message)
      return this.inbound.refuseDeep(exactId(message, "id"));
    if (!this.requests.accepts(message, bytes)) this.inbound.receive(message, during);
  }

  skipped(line: string): void {
    this.#settings.onSkipped?.(line);
  }

  failed(id: string, error: PlugboardError): void {
    this.requests.fail(id, error);
  }

  missed(): void {
    this.#settings.onMissed?.();
  }

  doubted(): void {
    this.#settings.onDoubted?.();
  }

  closed(error: PlugboardError): void {
    if (this.lost) return;
    this.lost = error;
    this.requests.close(error);
    this.inbound.close(error);
    this.#settings.onClosed(error);
  }
}
