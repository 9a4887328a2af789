/**
 * Hears of every request, to servers and from clients. `plugboard/telemetry` implements it with OpenTelemetry; without it
 * the engine only checks that there is none. Its methods must not throw.
 */
export interface Telemetry {
  /** A request is about to be sent to a server, on behalf of whatever is active now. */
  sent(request: SentRequest): SentSpan;
  /** Answers a request of a client; it is what is active meanwhile. */
  served<A extends TracedAnswer>(request: ServedRequest, answer: () => Promise<A>): Promise<A>;
  /** A session with a server, or of a client, has begun. Returns how to tell of its end, with the error that ended it. */
  session(side: "client" | "server", peer: TracedPeer): (error?: unknown) => void;
}

/** The other side of a connection. Read it late: some of it is known only after the handshake. */
export interface TracedPeer {
  readonly transport: "stdio" | "http" | "sse" | "memory";
  /** The revision of the protocol. */
  readonly version: string | undefined;
  readonly sessionId: string | undefined;
  /** Of a server that is reached over the network. */
  readonly url?: URL | undefined;
  /** A text without the credentials of this server; absent for clients. */
  redact?(text: string): string;
}

/** A request that may be recorded. */
interface TracedRequest {
  readonly method: string;
  readonly id: string | number;
  readonly params: Readonly<Record<string, unknown>>;
  readonly peer: TracedPeer;
}

/** A request that the hub sends to a server, as telemetry hears of it. */
export interface SentRequest extends TracedRequest {
  /** The configured name of the server. */
  readonly server: string;
  /** JSON of a value without secrets, cut if it is long. */
  shown(value: unknown): string;
}

/** A request that the gateway serves, as telemetry hears of it. */
export type ServedRequest = TracedRequest;

/** Follows one request to a server until it ends. */
export interface SentSpan {
  /** What tells the server which trace the request belongs to, for `_meta`. */
  readonly meta: Readonly<Record<string, string>> | undefined;
  /** The request has its outcome. */
  answered(answer: TracedAnswer): void;
  /** There was no answer. */
  failed(error: unknown): void;
}

/** An answer as it is on its way: an object, the bytes of one, or an error. */
export type TracedAnswer =
  | { result: Record<string, unknown> }
  | { bytes: Buffer; isError: boolean }
  | { error: { code: number; message: string } };
