import type { PlugboardError } from "../../errors.ts";
import type { KeptSession } from "../process/running-program.ts";
import type { RpcMessage } from "../rpc/messages.ts";

export type TransportKind = "stdio" | "http" | "sse" | "memory";

/**
 * Exchanges messages with one server, without interpreting them; `rpc/` handles ids, deadlines and server requests.
 * Cannot be reused: after `close` or the `closed` event, create a new one.
 */
export interface Transport {
  readonly kind: TransportKind;
  /** Resolves when messages can be sent. If that is impossible, cleans up and rejects with the reason. */
  start(events: TransportEvents): Promise<void>;
  /**
   * Sends a message, whose JSON is `text`. Throws or rejects with a `PlugboardError` whose `executed` is "no" if
   * nothing was sent. Later failures of a request are reported as events. `headers` are for this message only, where
   * the transport has headers.
   */
  send(message: RpcMessage, text: string, headers?: Readonly<Record<string, string>>): void | Promise<void>;
  /** Abandons a request. With a reason, also notifies the server in the way this transport defines. */
  cancel(id: string, reason?: string): void;
  /** Sets the revision negotiated in the handshake. */
  setVersion?(version: string): void;
  readonly facts: TransportFacts;
  /** The id of the session that the server began, where the transport has sessions. */
  readonly sessionId?: string | undefined;
  /** What an earlier use left of its session, once it is started: the handshake is not needed then. */
  readonly kept?: KeptSession | undefined;
  /** Resolves when no process, socket or timer is left. With a session, its program may wait for the next use. */
  close(session?: KeptSession): Promise<void>;
}

export interface TransportEvents {
  /** False if no pending request would take the bytes of a message. */
  readonly wantsBytes: boolean;
  /**
   * Offers the bytes of a message before they are parsed. Returns true if they were taken; otherwise the transport
   * parses the message and passes it to `message`.
   */
  takes(bytes: Buffer): boolean;
  /**
   * `during` is the id of the request on whose stream the message arrived, if the transport knows it; `bytes` is the
   * size of the message.
   */
  message(message: Record<string, unknown>, during?: string, bytes?: number): void;
  /** A line that is not a message, cut to its beginning; only where a transport has lines. */
  skipped?(text: string): void;
  /** The request with this id failed; others may still succeed. */
  failed(id: string, error: PlugboardError): void;
  /** What the server said by itself may not have arrived: the stream for it was broken, and is open again. */
  missed(): void;
  /** The server may no longer know the session; a request would tell. */
  doubted(): void;
  /** The connection has ended, for this reason. Called exactly once, also after `close`. */
  closed(error: PlugboardError): void;
}

/** Facts about a connection for reports. JSON-safe, without secrets. */
export interface TransportFacts {
  pid?: number;
  /** Lines on stdout that were not messages: how many, and the first of them. */
  skippedLines?: { count: number; first: string[] };
  stderrTail?: string;
}
