import type { ClientConnection } from "./connections.ts";

/** One HTTP request, whether it came over a socket or as a web `Request`. */
export interface HttpRequest {
  readonly method: string;
  /** Without the query: nothing is ever read from that. */
  readonly path: string;
  /** Why it cannot be told what the request means: it says two things about the same. */
  readonly ambiguity?: string | undefined;
  /** The connection that it came on; undefined for a web `Request`, and where somebody else's server received it. */
  readonly connection?: ClientConnection | undefined;
  /** Where it was received. Unknown for a web `Request`. */
  readonly received?: { localAddress: string; localPort: number; remoteAddress: string } | undefined;
  /** A header by its name in lower case. */
  header(name: string): string | undefined;
  headers(): Headers;
  /** True if the header was sent more than once; a web `Request` does not say it. */
  isRepeated?(name: string): boolean;
  /** Calls `take` once. A promise would cost more than everything else that is done here. */
  body(limit: number, take: (body: Body) => void): void;
}

/** Undefined if it is longer than the limit; the rest is not kept. `gone` if the client went away. */
export type Body = Buffer | "gone" | undefined;

export type Chunk = string | Buffer;
export type ReplyHeaders = Record<string, string>;

/** The answer to one HTTP request: `send` once, or `open`, any number of `write`, and `end`. */
export interface HttpReply {
  /** `onSent` is called when nothing of the body is needed any more; never if that is not known. */
  send(status: number, headers: ReplyHeaders, body?: readonly Chunk[], onSent?: () => void): void;
  open(headers: ReplyHeaders): void;
  write(chunks: readonly Chunk[]): void;
  end(): void;
  /** Breaks the connection off. */
  destroy(): void;
  /** True if nobody reads it any more. */
  readonly isGone: boolean;
  /** What was written and not taken by the client yet. */
  readonly waitingBytes: number;
  /** Called once, when the answer is complete or the client is gone. `isDelivered` if everything was sent. */
  onClose(listener: (isDelivered: boolean) => void): void;
}
