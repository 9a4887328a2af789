import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Received } from "../fake/index.ts";

/** One HTTP request, as it arrived, and which part of the server it was for. */
export interface AuthReceived extends Received {
  endpoint: string;
  /** The query of a GET, the form of a POST. */
  params: URLSearchParams;
}

export interface Answer {
  status: number;
  headers?: Record<string, string | string[]>;
  body?: string;
  /** That much white space after the body, which leaves JSON valid. */
  paddingBytes?: number;
}

export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  received: AuthReceived;
  url: URL;
}

export interface Listener {
  readonly origin: string;
  readonly received: AuthReceived[];
  /** What was thrown while answering; empty unless the server itself is wrong. */
  readonly errors: unknown[];
  close(): Promise<void>;
}

/** `answer` may take over the response: it then returns nothing. */
export interface Service {
  endpointOf(url: URL): string;
  answer(exchange: Exchange): Promise<Answer | undefined>;
}

/** An HTTP server on a free port of 127.0.0.1 that remembers what it was asked. */
export async function listen(service: Service): Promise<Listener> {
  const received: AuthReceived[] = [];
  const errors: unknown[] = [];
  const sockets = new Set<Socket>();
  const http = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      if (!request.destroyed || request.complete) errors.push(error);
      response.destroy();
    });
  });
  http.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => {});
  });

  let origin = "";
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", origin);
    const entry = describe(request, url, await readBody(request), service.endpointOf(url));
    received.push(entry);
    const answer = await service.answer({ request, response, received: entry, url });
    if (answer !== undefined) await send(response, answer);
  }

  await new Promise<void>((resolve, reject) => {
    http.once("error", reject);
    http.listen(0, "127.0.0.1", resolve);
  });
  origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  return {
    origin,
    received,
    errors,
    close: () => {
      const closed = new Promise<void>((resolve) => http.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      return closed;
    },
  };
}

export function json(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...headers },
    body: JSON.stringify(body),
  };
}

function describe(request: IncomingMessage, url: URL, body: string, endpoint: string): AuthReceived {
  return {
    method: request.method ?? "",
    path: request.url ?? "",
    headers: request.headers,
    body,
    message: parse(body),
    timeMs: performance.now(),
    endpoint,
    params: request.method === "POST" ? new URLSearchParams(body) : url.searchParams,
  };
}

const PAD = " ".repeat(65_536);

async function send(response: ServerResponse, answer: Answer): Promise<void> {
  response.writeHead(answer.status, answer.headers);
  response.write(answer.body ?? "");
  for (let left = answer.paddingBytes ?? 0; left > 0 && !response.destroyed; left -= PAD.length) {
    if (!response.write(PAD.slice(0, left))) await drained(response);
  }
  response.end();
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.on("drain", done).on("close", done);
  });
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
