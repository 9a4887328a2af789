import type { Delivered, Sending, Wire } from "./wire.ts";

export interface HttpWireOptions {
  url: string;
  headers?: Record<string, string>;
}

/** One HTTP request for each message. */
export class HttpWire implements Wire {
  readonly transport = "http";
  onMessage: Wire["onMessage"] = () => {};
  /** Legacy: given by the server with its answer to `initialize`. */
  session: string | undefined;
  /** Legacy: the version that was agreed on. */
  version: string | undefined;
  readonly #options: HttpWireOptions;
  readonly #gone = new AbortController();

  constructor(options: HttpWireOptions) {
    this.#options = options;
  }

  async send(text: string, { stream, headers, signal }: Sending): Promise<Delivered> {
    const response = await this.#fetch("POST", {
      body: text,
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...headers,
      },
      ...(signal && { signal }),
    });
    this.session ??= response.headers.get("mcp-session-id") ?? undefined;
    return this.#read(response, stream);
  }

  async openStanding(): Promise<Delivered> {
    const response = await this.#fetch("GET", { headers: { accept: "text/event-stream" } });
    if (!isEvents(response)) return this.#read(response, "standing");
    // It lasts until somebody leaves.
    this.#read(response, "standing").catch(() => {});
    return { status: response.status, headers: response.headers, body: "" };
  }

  async close(): Promise<void> {
    if (this.session !== undefined) await (await this.#fetch("DELETE", {})).body?.cancel();
    this.disconnect();
  }

  disconnect(): void {
    this.#gone.abort();
  }

  #fetch(
    method: string,
    { headers, signal, body }: Pick<RequestInit, "body" | "signal"> & { headers?: Record<string, string> },
  ): Promise<Response> {
    return fetch(this.#options.url, {
      method,
      headers: {
        ...this.#options.headers,
        ...(this.session !== undefined && { "mcp-session-id": this.session }),
        ...(this.version !== undefined && { "mcp-protocol-version": this.version }),
        ...headers,
      },
      ...(body !== undefined && { body }),
      signal: signal ? AbortSignal.any([signal, this.#gone.signal]) : this.#gone.signal,
    });
  }

  async #read(response: Response, stream: string): Promise<Delivered> {
    const { status, headers } = response;
    if (isEvents(response) && response.body) {
      for await (const data of eventsOf(response.body)) this.onMessage(data, stream, status);
      return { status, headers, body: "" };
    }
    const body = await response.text();
    const isMessage = headers.get("content-type")?.startsWith("application/json") === true && body !== "";
    if (isMessage) this.onMessage(body, stream, status);
    return { status, headers, body };
  }
}

function isEvents({ headers }: Response): boolean {
  return headers.get("content-type")?.startsWith("text/event-stream") === true;
}

/** The data of every event that has some. */
async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = "";
  for await (const part of body.pipeThrough(new TextDecoderStream())) {
    const events = (rest + part).split(/\r?\n\r?\n/);
    rest = events.pop() ?? "";
    for (const event of events) {
      const data = event.split(/\r?\n/).flatMap((line) => /^data: ?(.*)$/s.exec(line)?.[1] ?? []);
      if (data.join("") !== "") yield data.join("\n");
    }
  }
}
