import type { Outlet } from "../exchange.ts";
import type { Holding } from "../holding.ts";
import type { Ledger } from "../ledger.ts";
import type { ClientRequest } from "../message.ts";
import { LegacySession } from "../session.ts";
import type { SessionSettings } from "../session.ts";
import type { Beating } from "./heartbeat.ts";
import type { GatewayLimits } from "./limits.ts";
import type { HttpReply, ReplyHeaders } from "./request.ts";
import { ResumableStream, isPushStream, parseEventId } from "./resumable-stream.ts";
import { WaitingMessages } from "./waiting-messages.ts";

export interface HttpSessionSettings extends Omit<SessionSettings, "outlet" | "transport" | "sessionId"> {
  id: string;
  limits: GatewayLimits;
  ledger: Ledger;
  /** Its place in the ledger. */
  holding: Holding;
}

/** Clients of earlier revisions try to read the empty event as a message. */
const firstWithPriming = "2025-11-25";

/** A legacy session over HTTP: the client, its streams, and what waits for it. */
export class HttpSession implements Outlet, Beating {
  readonly id: string;
  readonly client: LegacySession;
  readonly holding: Holding;
  readonly #settings: HttpSessionSettings;
  readonly #streams = new Map<string, ResumableStream>();
  readonly #waiting: WaitingMessages;
  #usedAt = Date.now();

  /** Throws -32602 if `initialize` says too little. */
  constructor(initialize: ClientRequest, settings: HttpSessionSettings) {
    this.id = settings.id;
    this.holding = settings.holding;
    this.#settings = settings;
    this.#waiting = new WaitingMessages(settings.ledger, settings.caller);
    this.client = new LegacySession(initialize, {
      ...settings,
      outlet: this,
      transport: "http",
      sessionId: settings.id,
    });
  }

  /** Every request counts as use, and so does every open stream as long as it lasts. */
  touch(): void {
    this.#usedAt = Date.now();
    this.holding.touch();
  }

  /** True while a request is under way, or a stream is open. */
  isBusy(): boolean {
    if (this.client.inFlight > 0) return true;
    for (const { isConnected } of this.#streams.values()) if (isConnected) return true;
    return false;
  }

  get isIdle(): boolean {
    if (this.isBusy()) this.#usedAt = Date.now();
    return Date.now() - this.#usedAt > this.#settings.limits.sessionIdleMs;
  }

  /** How many streams listen. */
  get listening(): number {
    const streams = [...this.#streams.values()];
    return streams.filter(({ id, isConnected }) => isConnected && isPushStream(id)).length;
  }

  /**
   * Sends what belongs to no request, on the stream that has been listening for longest. A second one never takes
   * messages away from the first; it gets them when the first one ends. Without any they wait for the next one.
   */
  send(text: string): void {
    for (const stream of this.#streams.values())
      if (isPushStream(stream.id) && stream.isConnected) return stream.send([text]);
    this.#waiting.push(text);
  }

  /** A stream for the messages of one POST. */
  callStream(): ResumableStream {
    return this.#addStream("call");
  }

  /** Opens a stream that listens, or resumes any other by the id of its last event. False if that is not known. */
  listen(reply: HttpReply, cors: ReplyHeaders, lastEventId: string | undefined): boolean {
    const last = lastEventId === undefined ? undefined : parseEventId(lastEventId);
    if (lastEventId !== undefined && !last) return false;
    const known = last && this.#streams.get(last.stream);
    const isKnown = known?.canResume(last?.sequence ?? 0) === true;
    if (last && !isKnown && !isPushStream(last.stream)) return false;
    if (known && isKnown) known.connect(reply, cors, last?.sequence);
    else this.#addStream("push").connect(reply, cors);
    if (!last || isPushStream(last.stream)) for (const text of this.#waiting.takeAll()) this.send(text);
    return true;
  }

  beat(): void {
    for (const stream of this.#streams.values()) stream.beat();
  }

  /** Ends the streams that listen, so that the server can stop. Calls go on. */
  endListening(): void {
    for (const stream of this.#streams.values()) if (isPushStream(stream.id)) stream.close();
  }

  /** Ends everything that it holds. */
  close(): void {
    this.client.close();
    for (const stream of this.#streams.values()) stream.close();
    this.#streams.clear();
    this.#waiting.takeAll();
  }

  #addStream(kind: "call" | "push"): ResumableStream {
    const { limits, ledger, caller } = this.#settings;
    const stream = new ResumableStream(kind, {
      limits,
      ledger,
      caller,
      hasPriming: this.client.revision >= firstWithPriming,
      onForgotten: ({ id }) => void this.#streams.delete(id),
    });
    this.#streams.set(stream.id, stream);
    return stream;
  }
}
