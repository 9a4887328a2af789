import type { HttpHandler } from "./listener.ts";
import type { Body, Chunk, HttpReply, HttpRequest, ReplyHeaders } from "./request.ts";

/** Serves web-standard requests, wherever they come from. */
export function createFetch(handle: HttpHandler): (request: Request) => Promise<Response> {
  return (request) =>
    new Promise((resolve) => {
      handle(new WebRequest(request), new WebReply(request.signal, resolve));
    });
}

class WebRequest implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly #request: Request;

  constructor(request: Request) {
    this.#request = request;
    this.method = request.method;
    this.path = new URL(request.url).pathname;
  }

  header(name: string): string | undefined {
    // A Request made in a program has no Host header; its URL names the host.
    if (name === "host") return this.#request.headers.get(name) ?? new URL(this.#request.url).host;
    return this.#request.headers.get(name) ?? undefined;
  }

  headers(): Headers {
    return new Headers(this.#request.headers);
  }

  body(limit: number, take: (body: Body) => void): void {
    void this.#read(limit).then(take);
  }

  async #read(limit: number): Promise<Body> {
    if (Number(this.header("content-length") ?? 0) > limit) return undefined;
    const chunks: Uint8Array[] = [];
    let length = 0;
    try {
      for await (const chunk of this.#request.body ?? []) {
        length += chunk.length;
        if (length > limit) return undefined;
        chunks.push(chunk);
      }
      return Buffer.concat(chunks);
    } catch {
      return "gone";
    }
  }
}

class WebReply implements HttpReply {
  readonly #resolve: (response: Response) => void;
  readonly #listeners: ((isDelivered: boolean) => void)[] = [];
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #outcome: boolean | undefined;

  constructor(signal: AbortSignal, resolve: (response: Response) => void) {
    this.#resolve = resolve;
    if (signal.aborted) this.destroy();
    else signal.addEventListener("abort", () => this.destroy(), { once: true });
  }

  get isGone(): boolean {
    return this.#outcome !== undefined;
  }

  get waitingBytes(): number {
    return Math.max(0, -(this.#controller?.desiredSize ?? 0));
  }

  send(status: number, headers: ReplyHeaders, body: readonly Chunk[] = []): void {
    const bytes = body.length === 0 ? null : Buffer.concat(body.map((chunk) => Buffer.from(chunk)));
    this.#resolve(new Response(bytes, { status, headers }));
    this.#close(true);
  }

  open(headers: ReplyHeaders): void {
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        cancel: () => this.#close(false),
      },
      { highWaterMark: 0, size: (chunk) => chunk.length },
    );
    this.#resolve(new Response(body, { status: 200, headers }));
  }

  write(chunks: readonly Chunk[]): void {
    if (this.#outcome === undefined)
      this.#controller?.enqueue(Buffer.concat(chunks.map((chunk) => Buffer.from(chunk))));
  }

  end(): void {
    if (this.#outcome !== undefined) return;
    this.#controller?.close();
    this.#close(true);
  }

  destroy(): void {
    if (this.#outcome !== undefined) return;
    this.#controller?.error(new Error("The connection was broken off."));
    this.#resolve(Response.error());
    this.#close(false);
  }

  onClose(listener: (isDelivered: boolean) => void): void {
    const outcome = this.#outcome;
    if (outcome === undefined) this.#listeners.push(listener);
    else queueMicrotask(() => listener(outcome));
  }

  #close(isDelivered: boolean): void {
    if (this.#outcome !== undefined) return;
    this.#outcome = isDelivered;
    for (const listener of this.#listeners) listener(isDelivered);
  }
}
