import { randomBytes } from "node:crypto";
import { compact } from "../../lib/memory.ts";
import type { Held, Holding } from "../holding.ts";
import type { Ledger } from "../ledger.ts";
import type { GatewayLimits } from "./limits.ts";
import type { Chunk, HttpReply, ReplyHeaders } from "./request.ts";
import { eventChunks, keepAliveComment, primingEvent, streamHeaders } from "./sse.ts";

export interface StreamSettings {
  limits: GatewayLimits;
  ledger: Ledger;
  caller: string;
  /** Clients of this revision and later know events without a message. */
  hasPriming: boolean;
  /** Called when nobody can resume it any longer. */
  onForgotten(stream: ResumableStream): void;
}

/** An event that a client may ask for again. */
interface KeptEvent {
  sequence: number;
  chunks: readonly Chunk[];
  bytes: number;
}

/** What an event takes beside its text. */
const overhead = 256;

/** How long a client should wait before it connects again. */
const retryMs = 1_000;

/** A stream of events to a legacy client, which outlives its connection for a while. */
export class ResumableStream implements Held {
  /** Nobody can guess it, so only who got an event of this stream can take it over. */
  readonly id: string;
  readonly #settings: StreamSettings;
  readonly hasParts = true;
  /** In their order. */
  readonly #kept: KeptEvent[] = [];
  #keptBytes = 0;
  #holding: Holding | undefined;
  #sequence = 0;
  /** The last event that is lost. */
  #lost = 0;
  #reply: HttpReply | undefined;
  #isComplete = false;
  #leftAt: number | undefined;

  constructor(kind: "call" | "push", settings: StreamSettings) {
    this.id = `${kind === "call" ? "c" : "p"}${randomBytes(9).toString("base64url")}`;
    this.#settings = settings;
  }

  get isConnected(): boolean {
    return this.#reply !== undefined;
  }

  /** Continues on this connection, with what came after event number `after`. The one before, if any, ends. */
  connect(reply: HttpReply, cors: ReplyHeaders, after?: number): void {
    this.#reply?.end();
    this.#reply = reply;
    this.#leftAt = undefined;
    reply.open({ ...cors, ...streamHeaders });
    reply.onClose(() => this.#disconnect(reply));
    const { hasPriming } = this.#settings;
    const start = hasPriming ? primingEvent(this.#idOf(after ?? this.#sequence), retryMs) : keepAliveComment;
    reply.write([start]);
    if (after !== undefined)
      for (const { sequence, chunks } of this.#kept)
        if (sequence > after) reply.write(eventChunks(chunks, this.#idOf(sequence)));
    if (this.#isComplete) reply.end();
  }

  /** Whether everything after this event is still there. */
  canResume(after: number): boolean {
    return after >= this.#lost && after <= this.#sequence;
  }

  send(message: readonly Chunk[]): void {
    if (this.#isComplete) return;
    const sequence = ++this.#sequence;
    this.#keep(sequence, message);
    const reply = this.#reply;
    if (!reply) return;
    // A reader that is too slow loses its connection. It may come back for what it missed.
    if (reply.waitingBytes > this.#settings.limits.waitingBytes) reply.destroy();
    else reply.write(eventChunks(message, this.#idOf(sequence)));
  }

  /** Nothing more will be sent. It can still be resumed. */
  complete(): void {
    this.#isComplete = true;
    if (!this.#reply) this.#leftAt = Date.now();
    this.#reply?.end();
    this.#forgetIfUseless();
  }

  /** Ends the connection and forgets everything. */
  close(): void {
    this.#isComplete = true;
    this.#reply?.end();
    this.#forgetEvents();
    this.#settings.onForgotten(this);
  }

  /** Gives up the oldest of what it keeps for a client that comes back. */
  evict(bytes: number): void {
    const least = this.#keptBytes - bytes;
    while (this.#kept.length > 0 && this.#keptBytes > least) this.#drop();
  }

  beat(): void {
    if (this.#reply) this.#reply.write([keepAliveComment]);
    else if (this.#leftAt !== undefined && Date.now() - this.#leftAt > this.#settings.limits.replayMs)
      this.#expire();
  }

  #idOf(sequence: number): string {
    return `${this.id}_${sequence}`;
  }

  #disconnect(reply: HttpReply): void {
    if (this.#reply !== reply) return;
    this.#reply = undefined;
    this.#leftAt = Date.now();
    this.#forgetIfUseless();
  }

  #keep(sequence: number, chunks: readonly Chunk[]): void {
    const { ledger, caller, limits } = this.#settings;
    const bytes = keptBytes(chunks);
    const own = chunks.map((chunk) => (typeof chunk === "string" ? chunk : compact(chunk)));
    this.#kept.push({ sequence, chunks: own, bytes });
    this.#keptBytes += bytes;
    this.#holding ??= ledger.hold(caller, "replay", this);
    this.#holding?.grow(bytes);
    if (!this.#holding) this.evict(this.#keptBytes);
    while (this.#keptBytes > limits.replayBytesPerStream) this.#drop();
  }

  #drop(): void {
    const oldest = this.#kept.shift();
    if (!oldest) return;
    this.#keptBytes -= oldest.bytes;
    this.#holding?.shrink(oldest.bytes);
    this.#lost = oldest.sequence;
    this.#forgetIfUseless();
  }

  #forgetEvents(): void {
    this.#kept.length = 0;
    this.#keptBytes = 0;
    this.#holding?.release();
    this.#holding = undefined;
  }

  #expire(): void {
    this.#forgetEvents();
    this.#lost = this.#sequence;
    // A call may still be answered; a stream that listened is opened anew.
    if (isPushStream(this.id)) this.#isComplete = true;
    this.#forgetIfUseless();
  }

  #forgetIfUseless(): void {
    if (!this.#isComplete || this.#reply || this.#kept.length > 0) return;
    this.#forgetEvents();
    this.#settings.onForgotten(this);
  }
}

function keptBytes(chunks: readonly Chunk[]): number {
  let bytes = overhead;
  for (const chunk of chunks) bytes += Buffer.byteLength(chunk);
  return bytes;
}

/** Reads `Last-Event-ID`. */
export function parseEventId(text: string): { stream: string; sequence: number } | undefined {
  const [, stream, sequence] = /^([cp][\w-]{12})_(\d{1,15})$/.exec(text) ?? [];
  return stream === undefined ? undefined : { stream, sequence: Number(sequence) };
}

/** A stream that listens is simply opened anew when nothing is known of it. */
export function isPushStream(id: string): boolean {
  return id.startsWith("p");
}
