import type { JSONRPCMessage, Transport, TransportSendOptions } from "@modelcontextprotocol/client";
import { PlugboardError } from "../../errors.ts";
import { Lane } from "../rpc/lane.ts";

/** A server that lives in this process: the SDK's `Server` and `McpServer`, or anything with their `connect`. */
export interface InProcessServer {
  connect(transport: Transport): Promise<void>;
  close?(): Promise<void>;
}

/** The client's end of a pair of linked transports; starting it connects the server to the other end. */
export class MemoryTransport implements Transport {
  onmessage?: Transport["onmessage"];
  onclose?: Transport["onclose"];
  onerror?: Transport["onerror"];
  readonly lane: Lane;
  lost: PlugboardError | undefined;
  readonly #name: string;
  readonly #server: InProcessServer;
  readonly #far: FarEnd;
  #started = false;

  constructor(options: { name: string; server: InProcessServer; now?: (() => number) | undefined }) {
    this.#name = options.name;
    this.#server = options.server;
    this.#far = new FarEnd(
      (message) => this.#receive(message),
      () => this.#lose(`The server "${options.name}" closed the connection.`),
    );
    this.lane = new Lane({
      server: options.name,
      send: (request) => this.send(request),
      cancel: (requestId, reason) => {
        const params = { requestId, reason };
        this.send({ jsonrpc: "2.0", method: "notifications/cancelled", params }).catch(() => undefined);
      },
      ...(options.now && { now: options.now }),
    });
  }

  async start(): Promise<void> {
    const server = this.#name;
    if (this.#started)
      throw new PlugboardError("internal", `The transport of "${server}" was started twice.`, { server });
    this.#started = true;
    await this.#server.connect(this.#far);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.lost) throw this.lost;
    const copy = structuredClone(message);
    queueMicrotask(() => this.#far.deliver(copy));
  }

  /** Closes the link, not the server: whoever made the server may connect it again. */
  async close(): Promise<void> {
    this.#lose(`The connection to "${this.#name}" was closed.`);
    await this.#far.close();
  }

  #receive(message: JSONRPCMessage): void {
    if (this.lost || this.lane.accept(message)) return;
    try {
      this.onmessage?.(message);
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #lose(message: string): void {
    if (this.lost) return;
    this.lost = new PlugboardError("connection-lost", message, { server: this.#name });
    this.lane.close(this.lost);
    this.onclose?.();
  }
}

/** The end that the server holds. Messages are copied, so neither side can change what the other one keeps. */
class FarEnd implements Transport {
  onmessage?: Transport["onmessage"];
  onclose?: Transport["onclose"];
  onerror?: Transport["onerror"];
  readonly #toClient: (message: JSONRPCMessage) => void;
  readonly #onClosed: () => void;
  #closed = false;

  constructor(toClient: (message: JSONRPCMessage) => void, onClosed: () => void) {
    this.#toClient = toClient;
    this.#onClosed = onClosed;
  }

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage, _options?: TransportSendOptions): Promise<void> {
    if (this.#closed) throw new Error("The connection is closed.");
    const copy = structuredClone(message);
    queueMicrotask(() => this.#toClient(copy));
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.onclose?.();
    this.#onClosed();
  }

  deliver(message: JSONRPCMessage): void {
    if (this.#closed) return;
    try {
      this.onmessage?.(message);
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }
}
