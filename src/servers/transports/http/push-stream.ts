import { isPlugboardError } from "../../../errors.ts";
import type { Authorization, Sending } from "./authorization.ts";
import { EventStreamParser, eventLimit, isMessageEvent } from "./event-stream.ts";
import type { Head, Receiver } from "./exchange.ts";
import { parseMessages } from "./incoming.ts";

export interface PushStreamSettings {
  authorization: Authorization;
  onMessage(message: Record<string, unknown>): void;
  /** The stream is open, but was not at first or has been broken: the server may have said something meanwhile. */
  onReopened(): void;
  /** The server refused to open it again, as one does that no longer knows the session, or has another era now. */
  onDoubted(): void;
  /** The headers of the session. */
  headers(): Record<string, string>;
  /** A monotonic clock in milliseconds. */
  now?: (() => number) | undefined;
}

const defaultDelayMs = 1_000;
const minDelayMs = 100;
const maxDelayMs = 30_000;
/** The same for a stream that the server had and refuses now: it may come back, but rarely does. */
const maxRefusedDelayMs = 300_000;
/** A stream counts as useful if it lasted this long or brought an event. */
const healthyMs = 10_000;

/** The server's delay within limits (0 would be a busy loop, 1e12 overflows a timer). Useless streams increase it. */
export function reopenDelayMs(
  retryMs: number | undefined,
  uselessInARow: number,
  mostMs: number = maxDelayMs,
): number {
  const wanted = retryMs ?? defaultDelayMs * 1.5 ** uselessInARow;
  return Math.min(Math.max(wanted, minDelayMs * 2 ** uselessInARow), mostMs);
}

/**
 * Receives the messages that a legacy server sends outside of any call. Not every server has such a stream: one that
 * refuses it from the start is not asked again. A stream that was there once is reopened after its last event for as
 * long as the session lasts, whatever ended it.
 */
export class PushStream implements Receiver {
  readonly #settings: PushStreamSettings;
  readonly #now: () => number;
  #sending: Sending | undefined;
  #timer: NodeJS.Timeout | undefined;
  #head: Head | undefined;
  #parser: EventStreamParser | undefined;
  #lastEventId: string | undefined;
  #retryMs: number | undefined;
  #openedAt = 0;
  #uselessInARow = 0;
  #opens = 0;
  #wasOpen = false;
  #isClosed = false;

  constructor(settings: PushStreamSettings) {
    this.#settings = settings;
    this.#now = settings.now ?? (() => performance.now());
  }

  open(): void {
    if (this.#isClosed) return;
    const { authorization, headers } = this.#settings;
    const { url } = authorization.client;
    this.#head = undefined;
    this.#opens++;
    this.#openedAt = this.#now();
    const last = this.#lastEventId === undefined ? {} : { "last-event-id": this.#lastEventId };
    const request = {
      url,
      method: "GET",
      headers: { ...headers(), accept: "text/event-stream", ...last },
    } as const;
    // Some servers send no headers until they have a message to send.
    this.#sending = authorization.send(request, this, { headersTimeoutMs: 0 });
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#sending?.abort(new Error("The connection is closed."));
  }

  head(head: Head): void {
    this.#head = head;
    if (head.status !== 200 || head.type !== "text/event-stream") return;
    const { authorization, onMessage, onReopened } = this.#settings;
    if (this.#opens > 1) onReopened();
    this.#wasOpen = true;
    this.#parser = new EventStreamParser({
      ...eventLimit(authorization.client),
      onEvent: (event) => {
        this.#uselessInARow = 0;
        if (!isMessageEvent(event)) return;
        for (const message of readable(event.data, authorization)) onMessage(message);
      },
    });
  }

  data(chunk: Buffer): void {
    this.#parser?.push(chunk);
  }

  end(): void {
    const status = this.#head?.status ?? 0;
    if (!this.#wasOpen && meansNone.has(status)) return;
    if (this.#parser || status >= 500 || meansLater.has(status)) return this.#reopen();
    this.#reopen(maxRefusedDelayMs);
    if (this.#wasOpen) this.#settings.onDoubted();
  }

  failed(error: unknown): void {
    const isOutage = isPlugboardError(error, "connection-lost") || isPlugboardError(error, "not-responding");
    if (this.#parser || isOutage) this.#reopen();
    else if (this.#wasOpen) this.#reopen(maxRefusedDelayMs);
  }

  #reopen(mostMs?: number): void {
    if (this.#isClosed) return;
    this.#lastEventId = this.#parser?.lastEventId ?? this.#lastEventId;
    this.#retryMs = this.#parser?.retryMs ?? this.#retryMs;
    const wasUseful = this.#parser !== undefined && this.#now() - this.#openedAt >= healthyMs;
    this.#parser = undefined;
    if (wasUseful) this.#uselessInARow = 0;
    const delay = reopenDelayMs(this.#retryMs, this.#uselessInARow++, mostMs);
    this.#timer = setTimeout(() => this.open(), delay).unref();
  }
}

/** How a server answers that has no such stream. */
const meansNone: ReadonlySet<number> = new Set([200, 202, 204, 400, 404, 405, 406, 410, 415, 501]);
/** Timeout, conflict (our last stream may still count as open), too early, too many. */
const meansLater: ReadonlySet<number> = new Set([408, 409, 425, 429]);

/** Skips an event that cannot be parsed; the others may still be valid. */
function readable(data: Buffer, { client }: Authorization): Record<string, unknown>[] {
  try {
    return parseMessages(data, client);
  } catch {
    return [];
  }
}
