import { setTimeout as sleep } from "node:timers/promises";
import { PlugboardError } from "../errors.ts";
import type { Greeting } from "./handshake.ts";
import type { Redaction } from "./redaction.ts";
import { modernEnvelope } from "./rpc/envelope.ts";
import type { Capabilities } from "./rpc/envelope.ts";
import type { JsonRpcAnswer, RawAnswer } from "./rpc/messages.ts";
import type { RequestOptions } from "./rpc/requests.ts";
import type { Rpc } from "./rpc/rpc.ts";
import type { Transport, TransportFacts, TransportKind } from "./transports/transport.ts";

export interface SessionFacts extends TransportFacts {
  transport: TransportKind;
}

export interface SessionOptions {
  server: string;
  transport: Transport;
  rpc: Rpc;
  greeting: Greeting;
  capabilities: Capabilities;
  redaction: Redaction;
  onLost(error: PlugboardError): void;
}

export type SessionRequest = RequestOptions & {
  /** The capabilities of whoever asks, where they differ from the hub's. */
  capabilities?: Capabilities | undefined;
  /** Does not count as a use that keeps the server from being stopped. */
  isUpkeep?: boolean | undefined;
};

/** One connection while it lasts: greeted, usable, and over exactly once. */
export class Session {
  readonly greeting: Greeting;
  readonly rpc: Rpc;
  /** Whether it was of any use. */
  hasAnswered = false;
  /** Why it is over. */
  lost: PlugboardError | undefined;
  readonly #transport: Transport;
  readonly #server: string;
  readonly #capabilities: Capabilities;
  readonly #redaction: Redaction;
  readonly #onLost: (error: PlugboardError) => void;
  #closing: Promise<void> | undefined;
  #envelope: { capabilities: Capabilities; envelope: Record<string, unknown> } | undefined;

  constructor(options: SessionOptions) {
    this.#server = options.server;
    this.#transport = options.transport;
    this.#capabilities = options.capabilities;
    this.#redaction = options.redaction;
    this.#onLost = options.onLost;
    this.greeting = options.greeting;
    this.rpc = options.rpc;
    this.rpc.inbound.mayAsk = options.greeting.era === "legacy";
  }

  /** The server's own result, untouched; its errors, without what is secret. */
  request(
    method: string,
    params: Record<string, unknown>,
    options: SessionRequest & { raw: true },
  ): Promise<JsonRpcAnswer | RawAnswer>;
  request(method: string, params: Record<string, unknown>, options: SessionRequest): Promise<JsonRpcAnswer>;
  request(
    method: string,
    params: Record<string, unknown>,
    options: SessionRequest,
  ): Promise<JsonRpcAnswer | RawAnswer> {
    const envelope = this.greeting.era === "modern" ? this.#envelopeFor(options.capabilities) : undefined;
    return this.rpc.requests.request(method, params, options, envelope);
  }

  /** What every modern request carries; mostly the same as for the one before. */
  #envelopeFor(capabilities = this.#capabilities): Record<string, unknown> {
    if (this.#envelope?.capabilities !== capabilities)
      this.#envelope = { capabilities, envelope: modernEnvelope(capabilities) };
    return this.#envelope.envelope;
  }

  /** Asks for change notifications; open as long as the connection lasts, and no call in flight. */
  listen(notifications: Record<string, unknown>, signal: AbortSignal): Promise<JsonRpcAnswer> {
    const forever = { timeoutMs: Infinity, maxTimeoutMs: Infinity, signal, isStanding: true };
    return this.request("subscriptions/listen", { notifications }, forever);
  }

  get inFlight(): number {
    return this.rpc.requests.inFlight;
  }

  notify(method: string, params: Record<string, unknown>): Promise<void> {
    return this.rpc.notify(method, params);
  }

  get facts(): SessionFacts {
    return { transport: this.#transport.kind, ...this.#transport.facts };
  }

  /** Resolves when no call is on its way any more, or it is over. */
  async quiet(): Promise<void> {
    while (this.inFlight > 0 && !this.lost) await sleep(50, undefined, { ref: false });
  }

  /** Ends it on purpose: nobody is told that it was lost. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** The transport has ended by itself. */
  end(cause: PlugboardError): void {
    if (this.lost) return;
    this.lost = this.#redaction.error(cause) as PlugboardError;
    this.#onLost(this.lost);
  }

  async #close(): Promise<void> {
    this.lost ??= new PlugboardError("connection-lost", `The connection to "${this.#server}" was closed.`, {
      server: this.#server,
    });
    await this.#transport.close();
  }
}
