import type { Transform } from "node:stream";
import type { Dispatcher } from "undici/index.js";
import { PlugboardError } from "../../../errors.ts";
import { printable } from "../../../lib/printable.ts";
import { createDecoder } from "./decoder.ts";
import { networkError } from "./network-errors.ts";
import type { Route } from "./pool.ts";

export interface HttpRequest {
  url: URL;
  method: "GET" | "POST" | "DELETE";
  headers: Record<string, string>;
  body?: string | undefined;
  /** How long to wait for the response headers. 0 if the caller enforces its own deadline. */
  headersTimeoutMs: number;
  /** The longest pause inside a response that is not an event stream. */
  bodyIdleMs: number;
  /** The same for event streams. */
  streamIdleMs: number;
  /** The maximum size of a response that is not an event stream, after decompression. */
  maxBodyBytes: number;
}

export interface Head {
  url: URL;
  status: number;
  statusText: string;
  headers: Record<string, string | string[] | undefined>;
  /** The media type without parameters, in lower case; empty if there is none. */
  type: string;
}

/** Called with `head`, any number of `data`, then exactly one of `end` and `failed`; or only with `failed`. */
export interface Receiver {
  head(head: Head): void;
  data(chunk: Buffer): void;
  end(): void;
  failed(error: unknown): void;
}

/** Sends one request over a pooled socket and passes the response to a receiver, decompressed and within limits. */
export class HttpExchange implements Dispatcher.DispatchHandler {
  /** True if any part of the request may have been sent. */
  sent = false;
  readonly #server: string;
  readonly #request: HttpRequest;
  readonly #route: Route;
  readonly #receiver: Receiver;
  #controller: Dispatcher.DispatchController | undefined;
  #decoder: Transform | undefined;
  #timer: NodeJS.Timeout | undefined;
  #begun = false;
  #isStream = false;
  #bytes = 0;
  #stopped: Error | undefined;
  #done = false;

  constructor(server: string, request: HttpRequest, route: Route, receiver: Receiver) {
    this.#server = server;
    this.#request = request;
    this.#route = route;
    this.#receiver = receiver;
  }

  start(): void {
    const { url, method, headers, body, headersTimeoutMs } = this.#request;
    this.#watch(headersTimeoutMs, () => `sent no response within ${headersTimeoutMs} ms`);
    const { origin } = url;
    try {
      this.#route.dispatcher.dispatch(
        { origin, path: url.pathname + url.search, method, headers, body: body ?? null },
        this,
      );
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Closes the socket; the receiver fails with exactly this reason. */
  abort(reason: unknown): void {
    if (!this.#done) this.#stop(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#stopped) controller.abort(this.#stopped);
    else this.sent = true;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
    statusText = "",
  ): void {
    if (this.#done || status < 200) return;
    this.#begun = true;
    const type = mediaType(headers["content-type"]);
    const { bodyIdleMs, streamIdleMs, url } = this.#request;
    this.#isStream = status === 200 && type === "text/event-stream";
    const idleMs = this.#isStream ? streamIdleMs : bodyIdleMs;
    this.#watch(idleMs, () => `sent nothing for ${idleMs} ms in the middle of its response`);
    const encoding = String(headers["content-encoding"] ?? "identity")
      .trim()
      .toLowerCase();
    if (encoding !== "identity" && encoding !== "") this.#decode(encoding);
    if (!this.#done) this.#receiver.head({ url, status, statusText, headers, type });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    // A resumed parser first flushes an empty chunk; pausing again on it would loop forever.
    if (this.#done || chunk.length === 0) return;
    this.#timer?.refresh();
    if (this.#decoder === undefined) return this.#deliver(chunk);
    if (this.#decoder.write(chunk)) return;
    controller.pause();
    this.#decoder.once("drain", () => controller.resume());
  }

  onResponseEnd(): void {
    if (this.#done) return;
    if (this.#decoder) this.#decoder.end();
    else this.#end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error);
  }

  #decode(encoding: string): void {
    this.#decoder = createDecoder(encoding, {
      data: (chunk) => this.#deliver(chunk),
      end: () => this.#end(),
      error: (cause) => {
        const what = "sent a response that is incomplete or cannot be decompressed";
        this.#stop(this.#error("connection-lost", what, cause));
      },
    });
    if (this.#decoder) return;
    const shown = printable(encoding.slice(0, 40), { oneLine: true });
    this.#stop(
      this.#error(
        "unexpected-response",
        `compressed its response with an encoding that was not requested (${shown})`,
      ),
    );
  }

  #deliver(chunk: Buffer): void {
    if (this.#done) return;
    this.#bytes += chunk.length;
    const { maxBodyBytes } = this.#request;
    if (!this.#isStream && this.#bytes > maxBodyBytes) {
      return this.#stop(
        this.#error("output-too-large", `sent a response of more than ${maxBodyBytes} bytes`),
      );
    }
    try {
      this.#receiver.data(chunk);
    } catch (error) {
      this.#stop(error);
    }
  }

  #end(): void {
    if (this.#finish()) this.#receiver.end();
  }

  #fail(error: unknown): void {
    const { url } = this.#request;
    const { proxy } = this.#route;
    if (this.#finish())
      this.#receiver.failed(
        networkError(error, { server: this.#server, url, proxy, sent: this.sent, begun: this.#begun }),
      );
  }

  #stop(reason: unknown): void {
    if (!this.#finish()) return;
    this.#stopped = reason instanceof Error ? reason : new Error("aborted", { cause: reason });
    this.#controller?.abort(this.#stopped);
    this.#receiver.failed(reason);
  }

  #finish(): boolean {
    if (this.#done) return false;
    this.#done = true;
    clearTimeout(this.#timer);
    if (this.#decoder && !this.#decoder.readableEnded) this.#decoder.removeAllListeners("data").destroy();
    return true;
  }

  #watch(delayMs: number, what: () => string): void {
    clearTimeout(this.#timer);
    this.#timer =
      delayMs > 0 ? setTimeout(() => this.#stop(this.#error("not-responding", what())), delayMs) : undefined;
  }

  #error(
    code: "not-responding" | "unexpected-response" | "output-too-large" | "connection-lost",
    what: string,
    cause?: unknown,
  ) {
    const details = {
      server: this.#server,
      executed: this.sent ? ("maybe" as const) : ("no" as const),
      data: { sent: this.sent },
      ...(cause !== undefined && { cause }),
    };
    return new PlugboardError(code, `"${this.#server}" ${what}.`, details);
  }
}

export function mediaType(header: string | string[] | undefined): string {
  const value = Array.isArray(header) ? (header[0] ?? "") : (header ?? "");
  return (value.split(";", 1)[0] ?? "").trim().toLowerCase();
}

/** One response header; repeated headers are joined into one list. */
export function headerText({ headers }: Head, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}
