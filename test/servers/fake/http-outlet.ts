import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { type EventStream, writeTo } from "./event-stream.ts";
import type { Outlet } from "./outlet.ts";
import type { HttpAnswer, Script } from "./script.ts";

/** What an outlet needs to know of the server that it belongs to. */
export interface HttpHost {
  readonly script: Script;
  createStream(): EventStream;
  addSession(id: string): void;
  stop(): void;
}

interface Options {
  scope: string;
  /** The stream of the HTTP+SSE transport; without one the answer is the answer to the POST. */
  push?: EventStream;
  /** Whether the client understands an empty first event. */
  primed: boolean;
}

type State = "none" | "json" | "events" | "accepted" | "other";

/** One HTTP answer; what it is going to be is decided by the first thing that is said. */
export class HttpOutlet implements Outlet {
  readonly scope: string;
  /** True once the server itself has ended the connection. */
  dropped = false;
  readonly #host: HttpHost;
  readonly #response: ServerResponse;
  readonly #options: Options;
  #events: EventStream | undefined;
  #state: State = "none";
  #status = 200;
  #headers: OutgoingHttpHeaders = {};
  #promised = 0;
  #written = 0;

  constructor(host: HttpHost, response: ServerResponse, options: Options) {
    this.scope = options.scope;
    this.#host = host;
    this.#response = response;
    this.#options = options;
    this.#events = options.push;
  }

  begin(scripted: boolean): void {
    if (this.#options.push !== undefined && !scripted) this.#accept();
  }

  frame(message: unknown, streaming: boolean): Buffer {
    const text = JSON.stringify(message);
    const refused = this.#status !== 200;
    if (this.#options.push !== undefined && !(refused && this.#state === "none")) {
      this.#accept();
      return this.#options.push.encode(text);
    }
    if (this.#state === "none") {
      const { responses = "json" } = this.#host.script;
      if (!refused && (streaming || responses === "sse")) this.#openEvents();
      else this.open({ contentType: "application/json" }, Buffer.byteLength(text), undefined, "json");
    }
    return this.#state === "events" && this.#events !== undefined
      ? this.#events.encode(text)
      : Buffer.from(text);
  }

  write(bytes: Buffer, to: "output" | "stderr" | "socket"): Promise<void> {
    if (to === "stderr") throw new TypeError("fake server: there is no stderr over HTTP");
    if (to === "socket") {
      this.#state = "other";
      const { socket } = this.#response;
      return new Promise((resolve) => socket?.write(bytes, () => resolve()) ?? resolve());
    }
    if (this.#state === "none" && this.#options.push === undefined) this.#openEvents();
    else this.#accept();
    if (this.#state === "events" || this.#state === "accepted")
      return this.#events?.write(bytes) ?? Promise.resolve();
    this.#written += bytes.length;
    return writeTo(this.#response, bytes);
  }

  finish(): void {
    if (this.#options.push !== undefined && this.#state !== "json" && this.#state !== "other")
      return this.#accept();
    if (this.#state === "none") return this.#accept();
    if (this.#state === "events") return this.#events?.end();
    this.#response.end();
    if (this.#promised !== this.#written) this.#response.socket?.destroySoon();
    return undefined;
  }

  close(): void {
    if (this.#events !== undefined) this.#events.end();
    else this.#response.end();
  }

  exit(): void {
    this.#host.stop();
  }

  child(): never {
    throw new TypeError("fake server: this step needs stdio");
  }

  head(status: number | undefined, headers: Record<string, string | string[]>): void {
    this.#status = status ?? this.#status;
    this.#headers = { ...this.#headers, ...lowerCase(headers) };
    const session = this.#headers["mcp-session-id"];
    if (typeof session === "string") this.#host.addSession(session);
  }

  open(answer: HttpAnswer, bytes: number, encoding: string | undefined, state: State = "other"): void {
    this.head(answer.status, answer.headers ?? {});
    const headers: OutgoingHttpHeaders = {
      ...(answer.contentType !== undefined && { "content-type": answer.contentType }),
      ...(answer.json !== undefined && { "content-type": "application/json" }),
      ...(encoding !== undefined && { "content-encoding": encoding }),
      ...(answer.open !== true &&
        this.#headers["transfer-encoding"] === undefined && { "content-length": bytes }),
      ...this.#headers,
    };
    this.#state = state;
    this.#promised = Number(headers["content-length"] ?? bytes);
    this.#response.writeHead(this.#status, headers);
    this.#response.flushHeaders();
  }

  drop(how: "fin" | "reset"): void {
    this.dropped = true;
    const { socket } = this.#response;
    if (socket === null) return;
    if (how === "fin") socket.destroySoon();
    else if ("encrypted" in socket) socket.destroy();
    else socket.resetAndDestroy();
  }

  /** What is said from now on goes to a stream that has been opened on the same response. */
  adopt(events: EventStream): void {
    this.#state = "events";
    this.#events = events;
  }

  #openEvents(): void {
    const events = this.#host.createStream();
    this.adopt(events);
    events.attach(this.#response, this.#headers, { primed: this.#options.primed });
  }

  #accept(): void {
    if (this.#state !== "none") return;
    this.#state = "accepted";
    this.#response.writeHead(202, this.#headers).end();
  }
}

function lowerCase(headers: Record<string, string | string[]>): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
