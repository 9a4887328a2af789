import type { FetchLike } from "@modelcontextprotocol/client";
import { isPlugboardError } from "../../../errors.ts";
import type { HttpClient } from "./client.ts";
import { acceptEncoding } from "./decoder.ts";
import type { Head, HttpRequest, Receiver } from "./exchange.ts";
import type { RedirectingExchange } from "./redirect.ts";

/**
 * A fetch over the client's sockets, for logins only, not for messages to the server. It fails like the built-in one,
 * with our error as the cause, because the SDK uses that to tell a network failure from a rejection.
 */
export function createHttpFetch(client: HttpClient): FetchLike {
  return async (input, init = {}) => {
    const url = new URL(input);
    const request: Request = {
      url,
      method: (init.method ?? "GET").toUpperCase() as HttpRequest["method"],
      headers: {
        ...(url.origin === client.url.origin && client.headers),
        "accept-encoding": acceptEncoding,
        ...plainHeaders(init.headers),
      },
      body: bodyText(init.body),
    };
    if (init.body instanceof URLSearchParams) {
      request.headers["content-type"] ??= "application/x-www-form-urlencoded;charset=UTF-8";
    }
    try {
      return await receive(client, request, init.signal ?? undefined);
    } catch (error) {
      if (init.signal?.aborted || !isPlugboardError(error)) throw error;
      throw new TypeError("fetch failed", { cause: error });
    }
  };
}

type Request = Pick<HttpRequest, "url" | "method" | "headers" | "body">;

function receive(client: HttpClient, request: Request, signal: AbortSignal | undefined): Promise<Response> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    let exchange: RedirectingExchange | undefined;
    let head: Head | undefined;
    const chunks: Buffer[] = [];
    const onAbort = () => exchange?.abort(signal?.reason);
    const finish = () => signal?.removeEventListener("abort", onAbort);
    const receiver: Receiver = {
      head(begun) {
        head = begun;
        if (begun.type !== "text/event-stream") return;
        // An event stream may never end, and a login has no use for its content, so only return the head.
        resolve(response(begun, []));
        exchange?.abort(new Error("Event streams are not read here."));
      },
      data: (chunk) => void chunks.push(chunk),
      end() {
        finish();
        if (head) resolve(response(head, chunks));
      },
      failed(error) {
        finish();
        reject(error);
      },
    };
    signal?.addEventListener("abort", onAbort);
    exchange = client.exchange(request, receiver, { handBackRedirects: true });
  });
}

function response({ status, statusText, headers }: Head, chunks: Buffer[]): Response {
  const hasBody = status !== 204 && status !== 205 && status !== 304 && chunks.length > 0;
  const kept = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    // The body is already decompressed.
    if (value === undefined || name === "content-encoding" || name === "content-length") continue;
    for (const one of Array.isArray(value) ? value : [value]) kept.append(name, one);
  }
  const body = hasBody ? new Uint8Array(Buffer.concat(chunks)) : null;
  return new Response(body, { status, statusText: latin1OrEmpty(statusText), headers: kept });
}

function latin1OrEmpty(text: string): string {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(text) ? text : "";
}

function plainHeaders(headers: RequestInit["headers"]): Record<string, string> {
  return Object.fromEntries(headers instanceof Headers ? headers : new Headers(headers));
}

function bodyText(body: RequestInit["body"]): string | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === "string") return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new TypeError("Only text and form bodies can be sent.");
}
