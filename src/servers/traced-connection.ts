import { shownValue } from "../lib/shown-value.ts";
import type { SentRequest, SentSpan, Telemetry, TracedPeer } from "../lib/telemetry.ts";
import type { Redaction } from "./redaction.ts";
import type { Target } from "./target.ts";
import type { Transport } from "./transports/transport.ts";

/** Tells of the requests over one connection, and of how long it lasts. */
export class TracedConnection implements TracedPeer {
  readonly transport: TracedPeer["transport"];
  readonly url: URL | undefined;
  version: string | undefined;
  readonly #telemetry: Telemetry;
  readonly #server: string;
  readonly #wire: Transport;
  readonly #shown: SentRequest["shown"];
  readonly redact: (text: string) => string;
  #end: ((error?: unknown) => void) | undefined;

  constructor(telemetry: Telemetry, server: string, target: Target, wire: Transport, redaction: Redaction) {
    this.#telemetry = telemetry;
    this.#server = server;
    this.#wire = wire;
    this.redact = (text) => redaction.text(text);
    this.#shown = (value) => JSON.stringify(shownValue(value, this.redact));
    this.transport = wire.kind;
    this.url = "url" in target ? target.url : undefined;
  }

  get sessionId(): string | undefined {
    return this.#wire.sessionId;
  }

  readonly sent = (method: string, params: Record<string, unknown>, id: string): SentSpan =>
    this.#telemetry.sent({ server: this.#server, method, params, id, peer: this, shown: this.#shown });

  /** The handshake is done. */
  opened(version: string): void {
    this.version = version;
    this.#end = this.#telemetry.session("client", this);
  }

  /** With the error, unless it was closed on purpose. */
  ended(error: unknown): void {
    this.#end?.(error);
    this.#end = undefined;
  }
}
