import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Script } from "./script.ts";

const HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

/** A stream of events that outlives the response it is written to, if it is resumable. */
export class EventStream {
  readonly #name: string;
  readonly #script: Script;
  readonly #events: Buffer[] = [];
  #response: ServerResponse | undefined;
  #keepAlive: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(name: string, script: Script) {
    this.#name = name;
    this.#script = script;
  }

  /** Continues on this response, after the events that its client has. `primed` streams begin with an empty event. */
  attach(
    response: ServerResponse,
    headers: OutgoingHttpHeaders,
    options: { after?: number; primed?: boolean } = {},
  ): void {
    this.#response = response;
    response.writeHead(200, { ...HEADERS, ...headers });
    response.flushHeaders();
    const { retryMs, keepAliveMs } = this.#script;
    const retry = retryMs === undefined ? "" : `retry: ${retryMs}\n`;
    if (options.primed === true) response.write(`id: ${this.#name}:0\n${retry}data: \n\n`);
    else if (retry !== "") response.write(`${retry}\n`);
    for (const event of this.#events.slice(options.after ?? 0)) response.write(event);
    if (keepAliveMs !== undefined)
      this.#keepAlive = setInterval(() => response.write(": keepalive\n\n"), keepAliveMs);
    response.once("close", () => this.#detach(response));
    if (this.#ended) this.end();
  }

  get attached(): boolean {
    return this.#response !== undefined;
  }

  /** The event for a message; what is encoded here can be replayed. */
  encode(data: string, type = "message"): Buffer {
    const { resumable } = this.#script;
    const id = resumable === true ? `id: ${this.#name}:${this.#events.length + 1}\n` : "";
    const event = Buffer.from(`event: ${type}\n${id}data: ${data}\n\n`);
    if (resumable === true) this.#events.push(event);
    return event;
  }

  write(bytes: Buffer): Promise<void> {
    const response = this.#response;
    return response === undefined ? Promise.resolve() : writeTo(response, bytes);
  }

  end(): void {
    this.#ended = true;
    this.#response?.end();
  }

  #detach(response: ServerResponse): void {
    if (this.#response !== response) return;
    clearInterval(this.#keepAlive);
    this.#response = undefined;
  }
}

/** Resolves once the bytes are with the system, or cannot be any more. */
export function writeTo(response: ServerResponse, bytes: Buffer): Promise<void> {
  if (response.writableEnded || response.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    response.once("close", resolve);
    response.write(bytes, () => {
      response.off("close", resolve);
      resolve();
    });
  });
}
