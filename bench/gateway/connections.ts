import { connect } from "node:net";
import type { Socket } from "node:net";

export interface Reply {
  status: number;
  /** The first thousand bytes of the body. */
  head: string;
  /** The length of the body. */
  length: number;
  session?: string;
}

/**
 * Keep-alive connections that cost as little as possible: the load has to share its core with the echo servers, and must
 * not be what limits the fastest gateway. One request at a time for each connection; grows as needed.
 */
export class Connections {
  readonly #host: string;
  readonly #port: number;
  readonly #idle: Connection[] = [];

  constructor(origin: string) {
    const { hostname, port } = new URL(origin);
    this.#host = hostname;
    this.#port = Number(port);
  }

  /** The part of each request that stays the same, for `post`. */
  prefix(path: string, headers: Record<string, string>): string {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    return `POST ${path} HTTP/1.1\r\nhost: ${this.#host}:${this.#port}\r\n${lines.join("")}content-length: `;
  }

  /** `body` must be ASCII. */
  async post(prefix: string, body: string): Promise<Reply> {
    const connection = this.#usable() ?? new Connection(connect(this.#port, this.#host).setNoDelay());
    const reply = await connection.exchange(`${prefix}${body.length}\r\n\r\n${body}`);
    if (connection.isOpen) this.#idle.push(connection);
    return reply;
  }

  /** Servers close connections that nobody uses for a while, mostly after five seconds. */
  #usable(): Connection | undefined {
    for (let one = this.#idle.pop(); one; one = this.#idle.pop()) {
      if (one.isOpen && performance.now() - one.usedAt < longestIdleMs) return one;
      one.close();
    }
    return undefined;
  }
}

const longestIdleMs = 2_000;

type Phase = "head" | "body" | "chunks";

class Connection {
  usedAt = 0;
  readonly #socket: Socket;
  #phase: Phase = "head";
  #rest: Buffer | undefined;
  /** What is missing of the body, or of the current chunk with its line break. */
  #missing = 0;
  #reply: Reply = { status: 0, head: "", length: 0 };
  #resolve: (reply: Reply) => void = () => {};
  #reject: (error: Error) => void = () => {};

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (data) => this.#read(data));
    socket.on("error", (error) => this.#reject(error));
    socket.on("close", () => this.#reject(new Error("the connection was closed")));
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed && this.#socket.writable;
  }

  close(): void {
    this.#socket.destroy();
  }

  exchange(request: string): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#socket.write(request, "latin1");
    });
  }

  #read(data: Buffer): void {
    let rest = this.#rest ? Buffer.concat([this.#rest, data]) : data;
    this.#rest = undefined;
    while (rest.length > 0 || (this.#phase === "body" && this.#missing === 0)) {
      const used = this.#phase === "head" ? this.#readHead(rest) : this.#readBody(rest);
      if (used === undefined) {
        this.#rest = rest;
        return;
      }
      rest = rest.subarray(used);
      if (this.#phase === "body" && this.#missing === 0) this.#end();
    }
  }

  #readHead(data: Buffer): number | undefined {
    const end = data.indexOf("\r\n\r\n");
    if (end === -1) return undefined;
    const head = data.toString("latin1", 0, end + 2);
    const session = /\r\nmcp-session-id: ([^\r]+)/i.exec(head)?.[1];
    this.#reply = { status: Number(head.slice(9, 12)), head: "", length: 0, ...(session && { session }) };
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    this.#missing = Number(length ?? 0);
    this.#phase = /\r\ntransfer-encoding: *chunked/i.test(head) ? "chunks" : "body";
    return end + 4;
  }

  #readBody(data: Buffer): number | undefined {
    if (this.#phase === "chunks" && this.#missing === 0) {
      const end = data.indexOf("\r\n");
      if (end === -1) return undefined;
      const size = Number.parseInt(data.toString("latin1", 0, end), 16);
      // The last chunk is empty and has only its line break.
      if (size === 0) {
        this.#phase = "body";
        this.#missing = data.length >= end + 4 ? 0 : end + 4 - data.length;
        return Math.min(data.length, end + 4);
      }
      this.#missing = size + 2;
      return end + 2;
    }
    const used = Math.min(this.#missing, data.length);
    const lineBreak = this.#phase === "chunks" ? 2 : 0;
    const text = Math.max(0, Math.min(used, this.#missing - lineBreak));
    if (this.#reply.length < 1000) this.#reply.head += data.toString("latin1", 0, Math.min(text, 1000));
    this.#reply.length += text;
    this.#missing -= used;
    return used;
  }

  #end(): void {
    this.usedAt = performance.now();
    this.#phase = "head";
    this.#resolve(this.#reply);
  }
}
