import type { FetchLike } from "@modelcontextprotocol/client";
import { isPlugboardError, PlugboardError } from "../../../errors.ts";
import { isRecord } from "../../../lib/record.ts";
import { EventStreamParser, type StreamEvent } from "./event-stream.ts";
import type { HttpClient } from "./client.ts";
import { acceptEncoding } from "./decoder.ts";
import type { Head, HttpRequest, Receiver } from "./exchange.ts";
import { checkSessionId } from "./headers.ts";
import type { HttpJourney } from "./redirect.ts";
import { SlimResponse, realResponse } from "./response.ts";
import { rateLimit, readableLength, unexpected } from "./status.ts";

/**
 * A fetch for the SDK over the client's sockets. Messages to the server's endpoint fail with a PlugboardError that
 * says what happened; everything else (discovery, tokens) fails like the built-in fetch, with that error as cause,
 * because the SDK's sign-in code tells a broken network from a refusal by it.
 */
export function createHttpFetch(client: HttpClient, watch: StreamWatch = {}): FetchLike {
  return async (input, init = {}) => {
    const url = new URL(input);
    const isOwn = url.origin === client.url.origin;
    const request: Outgoing = {
      url,
      method: (init.method ?? "GET").toUpperCase() as HttpRequest["method"],
      headers: {
        ...(isOwn && (await client.headers())),
        "accept-encoding": acceptEncoding,
        ...plain(init.headers),
      },
      body: bodyText(init.body),
      signal: init.signal ?? undefined,
    };
    if (init.body instanceof URLSearchParams) {
      request.headers["content-type"] ??= "application/x-www-form-urlencoded;charset=UTF-8";
    }
    const isMessage = request.method === "POST" && isOwn && url.pathname === client.url.pathname;
    try {
      const response = await receive(client, request, isMessage, watch);
      if (isMessage) checkMessageResponse(client, request, response);
      return response.ok && isOwn && (isMessage || response.mediaType === "text/event-stream")
        ? asResponse(response)
        : realResponse(response);
    } catch (error) {
      if (isMessage || request.signal?.aborted || !isPlugboardError(error)) throw error;
      throw new TypeError("fetch failed", { cause: error });
    }
  };
}

export interface StreamWatch {
  /** Sees every event before the SDK does; what it throws ends the stream. */
  onEvent?(event: StreamEvent, url: URL): void;
  /** Why a stream broke; the SDK passes on no more than words. */
  onFailure?(error: unknown): void;
}

interface Outgoing extends Pick<HttpRequest, "url" | "method" | "headers" | "body"> {
  signal: AbortSignal | undefined;
}

/** Event streams are handed over at once, everything else when it is complete. */
function receive(
  client: HttpClient,
  request: Outgoing,
  isMessage: boolean,
  watch: StreamWatch,
): Promise<SlimResponse> {
  const { limits } = client;
  const isStream =
    request.method === "GET" && (request.headers["accept"] ?? "").includes("text/event-stream");
  const headersTimeoutMs = isMessage ? limits.answerTimeoutMs : isStream ? 0 : limits.headersTimeoutMs;
  return new Promise((resolve, reject) => {
    const { signal } = request;
    if (signal?.aborted) return reject(signal.reason as Error);
    const receiver = new FetchReceiver(client, watch, resolve, reject, () =>
      signal?.removeEventListener("abort", onAbort),
    );
    const journey = client.exchange(request, receiver, {
      headersTimeoutMs,
      handBackRedirects: !isMessage && !isStream,
    });
    receiver.journey = journey;
    const onAbort = () => journey.abort(signal?.reason);
    signal?.addEventListener("abort", onAbort);
  });
}

class FetchReceiver implements Receiver {
  journey: HttpJourney | undefined;
  readonly #client: HttpClient;
  readonly #watch: StreamWatch;
  readonly #resolve: (response: SlimResponse) => void;
  readonly #reject: (error: unknown) => void;
  readonly #finished: () => void;
  readonly #chunks: Buffer[] = [];
  #head: Head | undefined;
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined;
  #guard: EventStreamParser | undefined;

  constructor(
    client: HttpClient,
    watch: StreamWatch,
    resolve: (response: SlimResponse) => void,
    reject: (error: unknown) => void,
    finished: () => void,
  ) {
    this.#client = client;
    this.#watch = watch;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#finished = finished;
  }

  head(head: Head): void {
    this.#head = head;
    if (head.status !== 200 || head.type !== "text/event-stream") return;
    this.#guard = new EventStreamParser({
      onEvent: (event) => this.#watch.onEvent?.(event, head.url),
      maxEventLength: this.#client.limits.maxBodyBytes,
      tooLong: () => eventTooLong(this.#client),
    });
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => void (this.#stream = controller),
      pull: () => this.journey?.resume(),
      cancel: (reason) => this.journey?.abort(reason ?? new Error("The reader left.")),
    });
    this.#resolve(new SlimResponse(head, this.#client, body));
  }

  data(chunk: Buffer): void {
    if (this.#stream === undefined) return void this.#chunks.push(chunk);
    this.#guard?.push(chunk);
    this.#stream.enqueue(chunk);
    if ((this.#stream.desiredSize ?? 0) <= 0) this.journey?.pause();
  }

  end(): void {
    this.#finished();
    if (this.#stream) this.#stream.close();
    else if (this.#head)
      this.#resolve(new SlimResponse(this.#head, this.#client, Buffer.concat(this.#chunks)));
  }

  failed(error: unknown): void {
    // The first microtask gives the constructor of a journey that fails at once the time to return.
    queueMicrotask(this.#finished);
    if (this.#stream === undefined) return this.#reject(error);
    this.#watch.onFailure?.(error);
    this.#stream.error(error);
  }
}

export function eventTooLong({ server, limits }: HttpClient): PlugboardError {
  const message = `"${server}" sent an event of more than ${limits.maxBodyBytes} characters.`;
  return new PlugboardError("output-too-large", message, { server });
}

/** What the SDK would take for an answer, or report without the facts a person needs. */
function checkMessageResponse(client: HttpClient, request: Outgoing, response: SlimResponse): void {
  const { server } = client;
  const { status } = response;
  checkSessionId(server, response.headers.get("mcp-session-id") ?? undefined);
  const contentType = client.redact(response.headers.get("content-type") ?? "") || undefined;
  const retryAfter = response.headers.get("retry-after") ?? undefined;
  const limited = rateLimit({ server, status, contentType, retryAfter, now: client.now() });
  if (limited !== undefined) throw limited;
  const isReadable = response.mediaType === "application/json" || response.mediaType === "text/event-stream";
  if (status !== 200 || isReadable || !isRequest(request.body)) return;
  const text = client.redact(response.textNow().slice(0, readableLength));
  throw unexpected({ server, status, contentType, text });
}

function isRequest(body: string | undefined): boolean {
  const messages: unknown = JSON.parse(body ?? "null");
  return [messages].flat().some((message) => isRecord(message) && "method" in message && "id" in message);
}

function plain(headers: RequestInit["headers"]): Record<string, string> {
  return Object.fromEntries(headers instanceof Headers ? headers : new Headers(headers));
}

function bodyText(body: RequestInit["body"]): string | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === "string") return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new TypeError("Only text and form bodies can be sent.");
}

/** The SDK reads no more of a response than SlimResponse has. */
function asResponse(response: SlimResponse): Response {
  return response as unknown as Response;
}
