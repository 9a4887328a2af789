import type { IncomingMessage, ServerResponse } from "node:http";
import type { ClientConnection, Connections } from "./connections.ts";
import { Pipelined } from "./pipelined.ts";
import { tooMany, refuse } from "./refusal.ts";
import { repeatedHeader } from "./repeated-header.ts";
import type { Body, Chunk, HttpReply, HttpRequest, ReplyHeaders } from "./request.ts";
import { SlowReaders } from "./slow-readers.ts";
import type { SlowReaderLimits } from "./slow-readers.ts";

export type HttpHandler = (request: HttpRequest, reply: HttpReply) => void;

/** Serves requests of `node:http`. */
export function createListener(
  handle: HttpHandler,
  limits: SlowReaderLimits,
  connections?: Connections,
): (request: IncomingMessage, response: ServerResponse) => void {
  const slow = new SlowReaders(limits, ({ socket }) => (socket && connections?.of(socket)?.caller) ?? "");
  const pipelined = new Pipelined();
  const serve = (request: IncomingMessage, response: ServerResponse) =>
    handle(
      new NodeRequest(request, response, connections?.of(request.socket)),
      new NodeReply(request, response, slow),
    );
  return (request, response) => {
    // Only the first request of a connection that is not answered has its socket.
    if (response.socket) serve(request, response);
    else if (!pipelined.add(request, response, () => serve(request, response)))
      refuse(new NodeReply(request, response, slow), tooManyAtOnce);
  };
}

const tooManyAtOnce = tooMany(
  429,
  "Too many requests were sent at once on this connection. Wait for answers.",
);

/** Up to this size a body is sent in one piece: copying it costs less than several writes. */
const joinedBytes = 16 * 1024;
const maxDiscarded = 16 * 1024 * 1024;

class NodeRequest implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly connection: ClientConnection | undefined;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  /** The host in the first line, if it has one. */
  readonly #authority: string | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, connection: ClientConnection | undefined) {
    this.#request = request;
    this.#response = response;
    this.connection = connection;
    this.method = request.method ?? "";
    const url = request.url ?? "";
    // A proxy may send the whole address in the first line.
    const whole = url.startsWith("/") ? null : /^https?:\/\/([^/?#]*)(.*)$/i.exec(url);
    this.#authority = whole?.[1];
    const target = whole ? (whole[2] ?? "") : url;
    const query = target.indexOf("?");
    this.path = query === -1 ? target : target.slice(0, query);
  }

  get ambiguity(): string | undefined {
    const repeated = repeatedHeader(this.#request);
    if (repeated !== undefined) return `The header ${repeated} may be sent only once.`;
    const named = this.#authority ?? this.header(":authority");
    const host = this.#request.headers.host;
    if (named === undefined || host === undefined || named.toLowerCase() === host.toLowerCase())
      return undefined;
    return "The request names two different hosts.";
  }

  get received(): HttpRequest["received"] {
    const { localAddress = "", localPort = 0, remoteAddress = "" } = this.#request.socket;
    return { localAddress, localPort, remoteAddress };
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name];
    return typeof value === "string" ? value : undefined;
  }

  isRepeated(name: string): boolean {
    return repeatedHeader(this.#request, (one) => one === name) !== undefined;
  }

  headers(): Headers {
    const headers = new Headers();
    for (const [name, value] of Object.entries(this.#request.headers))
      if (typeof value === "string") headers.append(name, value);
    return headers;
  }

  body(limit: number, take: (body: Body) => void): void {
    const request = this.#request;
    if (request.destroyed) return take("gone");
    if (Number(request.headers["content-length"] ?? 0) > limit) return take(undefined);
    // The client waits for a word that its body is wanted.
    if (request.headers.expect !== undefined) this.#response.writeContinue();
    let only: Buffer | undefined;
    let chunks: Buffer[] | undefined;
    let length = 0;
    let isTaken = false;
    const once = (body: Body) => {
      if (isTaken) return;
      isTaken = true;
      // The request may stay for as long as its answer does.
      only = chunks = undefined;
      take(body);
    };
    const read = (chunk: Buffer) => {
      length += chunk.length;
      if (length > limit) {
        request.off("data", read);
        once(undefined);
      } else if (!only) only = chunk;
      else (chunks ??= [only]).push(chunk);
    };
    request.on("data", read);
    request.on("end", () => once(chunks ? Buffer.concat(chunks) : (only ?? Buffer.alloc(0))));
    request.on("close", () => {
      if (!request.complete) once("gone");
    });
  }
}

class NodeReply implements HttpReply {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #slow: SlowReaders;

  constructor(request: IncomingMessage, response: ServerResponse, slow: SlowReaders) {
    this.#request = request;
    this.#response = response;
    this.#slow = slow;
  }

  get isGone(): boolean {
    return this.#response.destroyed || this.#response.closed;
  }

  get waitingBytes(): number {
    return this.#response.writableLength;
  }

  send(status: number, headers: ReplyHeaders, body: readonly Chunk[] = [], onSent?: () => void): void {
    const response = this.#response;
    if (response.destroyed) return;
    const isEarly = !this.#request.complete && hasBody(this.#request);
    if (isEarly) response.setHeader("connection", "close");
    const joined = isEarly || !isSmall(body) ? undefined : asLatin1(body);
    const length = joined?.length ?? byteLength(body);
    response.writeHead(status, status === 204 ? headers : { ...headers, "content-length": String(length) });
    if (joined !== undefined) {
      response.end(joined, "latin1");
      return this.#slow.watchSoon(response);
    }
    if (isEarly && !this.#isHeldBack) return this.#endAfterRequest(body);
    this.#writeAll(body);
    response.end(onSent);
    this.#slow.watch(response, length);
  }

  open(headers: ReplyHeaders): void {
    this.#response.writeHead(200, headers);
  }

  write(chunks: readonly Chunk[]): void {
    const response = this.#response;
    if (response.destroyed) return;
    const wasWaiting = response.writableLength > 0;
    if (isSmall(chunks)) response.write(asLatin1(chunks), "latin1");
    else this.#writeAll(chunks);
    // What is written last waits until the end of this turn in any case.
    if (wasWaiting || response.writableNeedDrain) this.#slow.watch(response, byteLength(chunks));
  }

  end(): void {
    this.#response.end();
    this.#slow.watch(this.#response, 0);
  }

  destroy(): void {
    this.#response.destroy();
  }

  onClose(listener: (isDelivered: boolean) => void): void {
    const response = this.#response;
    // Whoever asks late is told too: the client may have gone while it was being authenticated.
    if (response.closed) queueMicrotask(() => listener(response.writableFinished));
    else response.once("close", () => listener(response.writableFinished));
  }

  /** The client sends its body only when it is asked for it, and was not. */
  get #isHeldBack(): boolean {
    return this.#request.headers.expect !== undefined && this.#request.readableFlowing === null;
  }

  #writeAll(chunks: readonly Chunk[]): void {
    const response = this.#response;
    response.cork();
    for (const chunk of chunks) response.write(chunk);
    response.uncork();
  }

  /**
   * A client that is refused before it sent everything may read the answer only after that, and loses it if the
   * connection breaks before. So what still comes is thrown away for a while.
   */
  #endAfterRequest(body: readonly Chunk[]): void {
    const [request, response] = [this.#request, this.#response];
    this.#writeAll(body);
    let discarded = 0;
    request.on("data", (chunk: Buffer) => {
      discarded += chunk.length;
      if (discarded > maxDiscarded) response.destroy();
    });
    request.once("end", () => response.end());
    request.once("close", () => response.end());
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/** Characters are at least one byte each, so this need not be exact to tell what is worth joining. */
function isSmall(chunks: readonly Chunk[]): boolean {
  let length = 0;
  for (const chunk of chunks) length += chunk.length;
  return length <= joinedBytes;
}

function byteLength(chunks: readonly Chunk[]): number {
  let length = 0;
  for (const chunk of chunks) length += Buffer.byteLength(chunk);
  return length;
}

/** The same bytes as one string, because Node.js sends a string together with the header, in one piece. */
function asLatin1(body: readonly Chunk[]): string {
  let text = "";
  for (const chunk of body) {
    if (typeof chunk !== "string") text += chunk.toString("latin1");
    else text += isAscii(chunk) ? chunk : Buffer.from(chunk).toString("latin1");
  }
  return text;
}

/** A loop, because most of these texts are short. */
function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) return false;
  return true;
}
