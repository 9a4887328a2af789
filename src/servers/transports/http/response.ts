import { PlugboardError } from "../../../errors.ts";
import { printable } from "../../../lib/printable.ts";
import type { HttpClient } from "./client.ts";
import type { Head } from "./exchange.ts";
import { readableLength } from "./status.ts";

/** The part of a `Response` that the SDK reads. A real one costs more than the rest of an exchange. */
export class SlimResponse {
  readonly status: number;
  readonly ok: boolean;
  readonly statusText: string;
  readonly url: string;
  readonly type = "basic";
  readonly redirected = false;
  readonly headers: SlimHeaders;
  readonly mediaType: string;
  readonly #client: Pick<HttpClient, "server" | "redact">;
  readonly #body: Buffer | ReadableStream<Uint8Array>;

  constructor(
    head: Head,
    client: Pick<HttpClient, "server" | "redact">,
    body: Buffer | ReadableStream<Uint8Array>,
  ) {
    this.status = head.status;
    this.ok = head.status >= 200 && head.status < 300;
    this.statusText = head.statusText;
    this.url = head.url.href;
    this.headers = new SlimHeaders(head.headers);
    this.mediaType = head.type;
    this.#client = client;
    this.#body = body;
  }

  get body(): ReadableStream<Uint8Array> | null {
    if (!Buffer.isBuffer(this.#body)) return this.#body;
    return this.#body.length === 0 ? null : new Blob([new Uint8Array(this.#body)]).stream();
  }

  /** What has arrived: everything, unless this is an event stream. */
  textNow(): string {
    return Buffer.isBuffer(this.#body) ? this.#body.toString("utf8") : "";
  }

  async text(): Promise<string> {
    return Buffer.isBuffer(this.#body) ? this.#body.toString("utf8") : await new Response(this.#body).text();
  }

  async json(): Promise<unknown> {
    const { server, redact } = this.#client;
    return parseJson(await this.text(), server, redact);
  }
}

class SlimHeaders {
  readonly #headers: Head["headers"];

  constructor(headers: Head["headers"]) {
    this.#headers = headers;
  }

  get(name: string): string | null {
    const value = this.#headers[name.toLowerCase()];
    return value === undefined ? null : Array.isArray(value) ? value.join(", ") : value;
  }

  has(name: string): boolean {
    return this.#headers[name.toLowerCase()] !== undefined;
  }

  *[Symbol.iterator](): Generator<[string, string]> {
    for (const name of Object.keys(this.#headers)) yield [name, this.get(name) ?? ""];
  }
}

/** For refusals and other origins, where the SDK's sign-in code wants the real thing. */
export function realResponse(response: SlimResponse): Response {
  const { status, statusText, headers } = response;
  const hasBody = status !== 204 && status !== 205 && status !== 304;
  // The body is already decompressed.
  const kept = [...headers].filter(([name]) => name !== "content-encoding" && name !== "content-length");
  return new Response(hasBody ? response.body : null, {
    status,
    statusText: latin(statusText),
    headers: kept,
  });
}

function latin(text: string): string {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(text) ? text : "";
}

/** The parser's own reason quotes the text, so it is not passed on. */
export function parseJson(text: string, server: string, redact: (text: string) => string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    const begin = printable(redact(text.slice(0, readableLength)).slice(0, 60), { oneLine: true });
    throw new PlugboardError("protocol-error", `"${server}" sent JSON that cannot be parsed: ${begin}`, {
      server,
    });
  }
}
