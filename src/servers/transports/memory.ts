import type { JSONRPCMessage, Transport as SdkTransport } from "@modelcontextprotocol/client";
import { PlugboardError } from "../../errors.ts";
import type { RpcMessage } from "../rpc/messages.ts";
import type { Transport, TransportEvents, TransportFacts } from "./transport.ts";

/** A server in this process: the SDK's `Server` or `McpServer`, or any object with the same `connect`. */
export interface InProcessServer {
  connect(transport: SdkTransport): Promise<void>;
  close?(): Promise<void>;
}

/** The client end of a link to a server in this process. Starting it connects the server to the other end. */
export class MemoryTransport implements Transport {
  readonly kind = "memory";
  readonly facts: TransportFacts = {};
  readonly #name: string;
  readonly #server: InProcessServer;
  readonly #far: FarEnd;
  #events: TransportEvents | undefined;
  #lost: PlugboardError | undefined;

  constructor({ name, server }: { name: string; server: InProcessServer }) {
    this.#name = name;
    this.#server = server;
    this.#far = new FarEnd(
      (message) => this.#receive(message),
      () => this.#lose(`The server "${name}" closed the connection.`),
    );
  }

  async start(events: TransportEvents): Promise<void> {
    const server = this.#name;
    if (this.#events)
      throw new PlugboardError("internal", `The transport of "${server}" was started twice.`, { server });
    this.#events = events;
    await this.#server.connect(this.#far);
  }

  send(_message: RpcMessage, text: string): void {
    if (this.#lost) throw this.#lost.with({ executed: "no" });
    const copy = JSON.parse(text) as JSONRPCMessage;
    queueMicrotask(() => this.#far.deliver(copy));
  }

  cancel(requestId: string, reason?: string): void {
    if (reason === undefined || this.#lost) return;
    const cancelled = {
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId, reason },
    } as const;
    this.send(cancelled, JSON.stringify(cancelled));
  }

  /** Closes the link, not the server, which its creator may connect again. */
  async close(): Promise<void> {
    this.#lose(`The connection to "${this.#name}" was closed.`);
    await this.#far.close();
  }

  #receive(message: Record<string, unknown>): void {
    if (!this.#lost) this.#events?.message(message);
  }

  #lose(message: string): void {
    if (this.#lost) return;
    this.#lost = new PlugboardError("connection-lost", message, { server: this.#name });
    this.#events?.closed(this.#lost);
  }
}

/** The server's end. Messages are copied, so neither side can modify the other's objects. */
class FarEnd implements SdkTransport {
  onmessage?: SdkTransport["onmessage"];
  onclose?: SdkTransport["onclose"];
  onerror?: SdkTransport["onerror"];
  readonly #toClient: (message: Record<string, unknown>) => void;
  readonly #onClosed: () => void;
  #closed = false;

  constructor(toClient: (message: Record<string, unknown>) => void, onClosed: () => void) {
    this.#toClient = toClient;
    this.#onClosed = onClosed;
  }

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed) throw new Error("The connection is closed.");
    const copy = wireCopy(message);
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

/**
 * The message as it would arrive over a wire: what is not JSON would fail where it is written to somebody else. An answer
 * is replaced, because somebody waits for it; of anything else only its sender hears.
 */
function wireCopy(message: JSONRPCMessage): Record<string, unknown> {
  try {
    return JSON.parse(JSON.stringify(message)) as Record<string, unknown>;
  } catch (error) {
    // What is nested too deeply for that is told by the one who looks at it.
    if (error instanceof RangeError) return structuredClone(message);
    if ("method" in message) throw error;
    const [reason] = (error instanceof Error ? error.message : String(error)).split("\n");
    const failure = { code: -32_603, message: `The server's answer is not JSON: ${reason}` };
    return { jsonrpc: "2.0", id: message.id, error: failure };
  }
}
