import type { Capabilities, LogLevel, ParsedParams } from "../host.ts";
import type { View } from "../index.ts";
import type { Telemetry, TracedPeer } from "../lib/telemetry.ts";
import type { Cancellation } from "../lib/abortable.ts";
import type { Endpoint } from "./endpoint.ts";
import type { SentHeaders } from "./passed-headers.ts";
import type { Result } from "./result.ts";

export type Era = "modern" | "legacy";

/** Who looks at an endpoint: what servers show may depend on both. */
export interface Viewer {
  /** Whom the request was authenticated as. */
  readonly caller: string;
  /** What the request was sent with and servers get. */
  readonly sent?: SentHeaders | undefined;
}

/** The program on the other side: a legacy session, or what one modern request says about its sender. */
export interface Client extends Viewer {
  readonly era: Era;
  readonly revision: string;
  readonly endpoint: Endpoint;
  readonly transport: "stdio" | "http";
  /** Of a legacy session over HTTP. */
  readonly sessionId?: string | undefined;
  readonly capabilities: Capabilities;
  readonly info?: Record<string, unknown> | undefined;
  /** Absent if it wants no log messages. */
  readonly logLevel?: LogLevel | undefined;
  /**
   * Asks a legacy client, on the stream of `during` or else on its own. Throws a `Refusal` with the client's error.
   * A modern client cannot be asked.
   */
  ask?(question: ClientQuestion, during: Exchange | undefined): Promise<Record<string, unknown>>;
  /** What a legacy client keeps between its requests. */
  readonly session?: ClientSession | undefined;
}

export interface ClientSession {
  /** How to end each subscription, by the URI that the client knows. */
  readonly subscriptions: Map<string, () => void>;
  setLogLevel(level: LogLevel): Promise<void>;
  /** Sends what belongs to no request. */
  notify(method: string, params: Record<string, unknown>): void;
}

export interface ClientQuestion {
  method: string;
  params: Record<string, unknown>;
  /** Aborted when the answer no longer matters; the client is told. */
  signal: AbortSignal;
  /** Lets other calls have their turn while nobody knows whether the client comes back. */
  stepAside?: (() => void) | undefined;
}

/** One request of a client until it is answered, or until the client cancels it or is gone for good. */
export interface Exchange extends Cancellation {
  readonly client: Client;
  readonly id: string | number;
  readonly method: string;
  readonly params: ParsedParams;
  /** False while nobody is at the other end to get an answer; a legacy client may come back for it. */
  readonly isConnected?: boolean;
  /** Where a question about it goes, if it has a stream of its own. */
  readonly outlet?: Outlet | undefined;
  /** Sends a notification on the stream of this request; ignored after the answer. */
  notify(method: string, params: Record<string, unknown>): void;
}

/** The outcome of a request. A result is an object to serialise, or its JSON text. */
export type Answer = Result | { error: RpcFailure };

export interface RpcFailure {
  code: number;
  message: string;
  data?: unknown;
}

/** Answers what clients ask. A failure is an answer too: nothing is thrown. */
export interface Dispatcher {
  answer(exchange: Exchange): Promise<Answer>;
  /** A notification of a client, other than cancellation. */
  hear(client: Client, method: string, params: ParsedParams): void;
  readonly telemetry?: Telemetry | undefined;
}

/** Where messages to a client go: a stream of one request, or whatever is open for the rest. */
export interface Outlet {
  /** One JSON-RPC message as text, without line breaks. */
  send(text: string): void;
  /** A header of the HTTP request that it belongs to, by its name in lower case. Only what the configuration maps may pass on. */
  header?(name: string): string | undefined;
  /** False if the client left; absent where that ends the request. */
  isConnected?(): boolean;
}

/** One that also gets the answers to the requests that it belongs to. */
export interface AnsweredOutlet extends Outlet {
  /** Undefined for a request that its client cancelled: it gets no answer. */
  answer(idText: string, answer: Answer | undefined): void;
  /** A request failed, so that it never gets an answer. */
  end?(): void;
}

/** The servers as this client may see and use them. */
export function viewOf(client: Client): View {
  return client.endpoint.view(client);
}

export function tracedPeer({ transport, revision, sessionId }: Client): TracedPeer {
  return { transport, version: revision, sessionId };
}
