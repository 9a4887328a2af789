import { setTimeout as sleep } from "node:timers/promises";
import type { Transport } from "@modelcontextprotocol/client";
import { PlugboardError, isPlugboardError } from "../errors.ts";
import { isRecord } from "../lib/record.ts";
import { modernEnvelope } from "./rpc/envelope.ts";
import type { Capabilities } from "./rpc/envelope.ts";
import type { Greeting } from "./handshake.ts";
import type { JsonRpcAnswer, Lane, LaneOptions } from "./rpc/lane.ts";
import type { Peer } from "./rpc/peer.ts";
import type { Redaction } from "./redaction.ts";

export type ServerTransport = Transport & {
  lane: Lane;
  pid?: number | null;
  lost?: PlugboardError | undefined;
};

export interface SessionFacts {
  transport: "stdio" | "http" | "sse" | "memory";
  pid?: number;
  /** Lines on stdout that were no messages: how many, and the first of them. */
  skippedLines?: { count: number; first: string[] };
  stderrTail?: string;
}

/** One connection while it lasts: greeted, usable, and over exactly once. */
export class Session {
  readonly greeting: Greeting;
  readonly lane: Lane;
  readonly peer: Peer;
  /** Whether it was of any use. */
  hasAnswered = false;
  /** Why it is over. */
  lost: PlugboardError | undefined;
  readonly #transport: ServerTransport;
  readonly #kind: SessionFacts["transport"];
  readonly #server: string;
  readonly #capabilities: Capabilities;
  readonly #redaction: Redaction;
  readonly #onLost: (error: PlugboardError) => void;
  #closing: Promise<void> | undefined;
  /** Requests that stay open by design. */
  #standing = 0;

  constructor(options: {
    server: string;
    kind: SessionFacts["transport"];
    transport: ServerTransport;
    peer: Peer;
    greeting: Greeting;
    capabilities: Capabilities;
    redaction: Redaction;
    onLost(error: PlugboardError): void;
  }) {
    this.#server = options.server;
    this.#kind = options.kind;
    this.#transport = options.transport;
    this.#capabilities = options.capabilities;
    this.#redaction = options.redaction;
    this.#onLost = options.onLost;
    this.greeting = options.greeting;
    this.lane = options.transport.lane;
    this.peer = options.peer;
    this.peer.mayAsk = options.greeting.era === "legacy";
    Object.assign(options.transport, { onclose: () => this.#end(this.#transport.lost) });
    if (options.transport.lost) this.#end(options.transport.lost);
  }

  /** The raw door: the server's own result, untouched; its errors, without what is secret. */
  async request(
    method: string,
    params: Record<string, unknown>,
    options: LaneOptions & { capabilities?: Capabilities | undefined },
  ): Promise<JsonRpcAnswer> {
    const { onProgress } = options;
    try {
      const answer = await this.lane.request(method, this.#enveloped(params, options.capabilities), {
        ...options,
        ...(onProgress && { onProgress: (progress) => onProgress(this.#redaction.value(progress)) }),
      });
      return "error" in answer ? this.#redaction.value(answer) : answer;
    } catch (error) {
      throw this.#redaction.error(error);
    }
  }

  /** With the modern envelope around the question where that is needed. */
  #enveloped(params: Record<string, unknown>, capabilities = this.#capabilities): Record<string, unknown> {
    if (this.greeting.era === "legacy") return params;
    const meta = isRecord(params["_meta"]) ? params["_meta"] : undefined;
    return { ...params, _meta: { ...meta, ...modernEnvelope(capabilities) } };
  }

  /** Asks for change notifications; open as long as the connection lasts, and no call in flight. */
  async listen(notifications: Record<string, unknown>, signal: AbortSignal): Promise<JsonRpcAnswer> {
    const forever = { timeoutMs: Infinity, maxTimeoutMs: Infinity, signal };
    this.#standing++;
    try {
      return await this.request("subscriptions/listen", { notifications }, forever);
    } finally {
      this.#standing--;
    }
  }

  get inFlight(): number {
    return this.lane.inFlight - this.#standing;
  }

  async notify(method: string, params: Record<string, unknown>): Promise<void> {
    await this.peer.notify(method, params);
  }

  get facts(): SessionFacts {
    const transport = this.#transport as ServerTransport & {
      skipped?: SessionFacts["skippedLines"];
      stderr?: { tail(): string };
    };
    const tail = transport.stderr?.tail();
    return {
      transport: this.#kind,
      ...(typeof transport.pid === "number" && { pid: transport.pid }),
      ...(transport.skipped && transport.skipped.count > 0 && { skippedLines: transport.skipped }),
      ...(tail && { stderrTail: tail }),
    };
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

  async #close(): Promise<void> {
    this.lost ??= new PlugboardError("connection-lost", `The connection to "${this.#server}" was closed.`, {
      server: this.#server,
    });
    this.peer.close(this.lost);
    await this.#transport.close();
  }

  #end(cause: PlugboardError | undefined): void {
    if (this.lost) return;
    const known = this.#redaction.error(cause);
    const error = isPlugboardError(known)
      ? known
      : new PlugboardError("connection-lost", `The connection to "${this.#server}" ended.`, {
          server: this.#server,
        });
    this.lost = error;
    this.peer.close(error);
    this.#onLost(error);
  }
}
