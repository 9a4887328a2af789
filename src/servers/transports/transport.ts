import type { PlugboardError } from "../../errors.ts";
import type { RpcMessage } from "../rpc/messages.ts";

export type TransportKind = "stdio" | "http" | "sse" | "memory";

/**
 * The way to one server and back. It carries messages and knows nothing of what they mean; ids, deadlines and
 * questions belong to `rpc/`. Used once: after `close`, or once it said that it is closed, a new one is made.
 */
export interface Transport {
  readonly kind: TransportKind;
  /** Resolves when messages can be sent. Rejects with the reason, and leaves nothing behind, when they never can. */
  start(events: TransportEvents): Promise<void>;
  /**
   * Sends a message, whose JSON is `text`. Throws or rejects with a `PlugboardError` whose
   * `executed` is "no" when nothing left. What happens to a request later comes as an event.
   */
  send(message: RpcMessage, text: string): void | Promise<void>;
  /** Nobody waits for this request any more. With a reason the server is told, in the way of this transport. */
  cancel(id: string, reason?: string): void;
  /** The revision that the handshake agreed on. */
  setVersion?(version: string): void;
  readonly facts: TransportFacts;
  /** Ends everything. Resolves when no process, socket or timer of it is left. */
  close(): Promise<void>;
}

export interface TransportEvents {
  /** False when nobody would take the bytes of a message now. */
  readonly wantsBytes: boolean;
  /**
   * Offers the bytes of a message before they are parsed. True when somebody took them as they are; otherwise the
   * message is parsed and handed to `message`.
   */
  takes(bytes: Buffer): boolean;
  /**
   * `during` is the id of our request on whose stream it came, where the transport knows; `bytes` is how large the
   * message was.
   */
  message(message: Record<string, unknown>, during?: string, bytes?: number): void;
  /** This request will get no answer; others may. */
  failed(id: string, error: PlugboardError): void;
  /** It is over, and why. Told once, also after `close`. */
  closed(error: PlugboardError): void;
}

/** What there is to say about a connection. JSON-safe, no secrets. */
export interface TransportFacts {
  pid?: number;
  /** Lines on stdout that were no messages: how many, and the first of them. */
  skippedLines?: { count: number; first: string[] };
  stderrTail?: string;
}
