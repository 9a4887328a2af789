import { createServer as createHttp, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { EventStream } from "./event-stream.ts";
import { FakeServer } from "./fake-server.ts";
import { HttpOutlet } from "./http-outlet.ts";
import { type HttpState, route } from "./http-routes.ts";
import type { Fields, Script } from "./script.ts";

/** One HTTP request, as it arrived. */
export interface Received {
  method: string;
  path: string;
  headers: Record<string, string | string[] | undefined>;
  body: string;
  /** The body, if it is JSON. */
  message: Fields | undefined;
  timeMs: number;
}

export interface FakeHttp {
  /** Streamable HTTP, both eras. */
  readonly url: string;
  /** The HTTP+SSE transport. A POST to it is refused, as old servers do. */
  readonly sseUrl: string;
  /** Every request in the order of arrival. */
  readonly received: Received[];
  /** How many sockets are open. */
  readonly connections: number;
  /** The ids of the legacy sessions that are known. */
  readonly sessions: string[];
  /** Mistakes in the script that only showed when a step was done. */
  readonly errors: unknown[];
  /** Changes what the script says from now on; what is not given stays. */
  set(change: Partial<Script>): void;
  /** A list change or resource update for everybody who listens. */
  notify(notification: { method: string; params?: Fields }): Promise<void>;
  /** Ends every connection, forgets every session, and listens on the same port again. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** A fake server on a free port of 127.0.0.1, in this process. */
export async function startFakeHttp(
  script: Script = {},
  options: { tls?: { key: string; cert: string } } = {},
): Promise<FakeHttp> {
  const server = new FakeServer(script);
  const sockets = new Set<Socket>();
  const received: Received[] = [];
  const errors: unknown[] = [];
  const state = createState(server, () => stop());
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    serve(request, response).catch((error: unknown) => {
      errors.push(error);
      response.destroy();
    });
  };
  const { tls } = options;
  const http =
    tls === undefined ? createHttp(listener) : (await import("node:https")).createServer(tls, listener);
  http.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => {});
  });

  let started: Promise<boolean> | undefined;
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    received.push({
      method: request.method ?? "",
      path: request.url ?? "",
      headers: request.headers,
      body,
      message: parse(body),
      timeMs: performance.now(),
    });
    started ??= server.start(new HttpOutlet(state, response, { scope: "start", primed: false }));
    if (await started) await route(state, request, response, body);
  }

  function stop(): Promise<void> {
    server.forget();
    state.forget();
    started = undefined;
    const closed = new Promise<void>((resolve) => http.close(() => resolve()));
    for (const socket of sockets) socket.destroy();
    return closed;
  }

  const listen = (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      http.once("error", reject);
      http.listen(port, "127.0.0.1", () => {
        http.off("error", reject);
        resolve();
      });
    });
  await listen(0);
  const { port } = http.address() as AddressInfo;
  const origin = `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`;
  return {
    url: `${origin}/mcp`,
    sseUrl: `${origin}/sse`,
    received,
    errors,
    get connections() {
      return sockets.size;
    },
    get sessions() {
      return [...state.sessions.keys()];
    },
    set: (change) => server.set(change),
    notify: (notification) => server.broadcast(notification),
    restart: async () => {
      await stop();
      await listen(port);
    },
    close: stop,
  };
}

function createState(server: FakeServer, stop: () => Promise<void>): HttpState & { forget(): void } {
  const streams = new Map<string, EventStream>();
  const sessions: HttpState["sessions"] = new Map();
  const pushes: HttpState["pushes"] = new Map();
  let given = 0;
  const state = {
    server,
    sessions,
    pushes,
    requests: 0,
    generation: 0,
    get script() {
      return server.script;
    },
    stop: () => void stop(),
    stream: (name: string) => streams.get(name),
    createStream: () => {
      const name = crypto.randomUUID();
      const stream = new EventStream(name, server.script);
      if (server.script.resumable === true) streams.set(name, stream);
      return stream;
    },
    addSession: (id: string) => sessions.has(id) || sessions.set(id, undefined),
    newSession: () => {
      const { sessions: named } = server.script;
      return (Array.isArray(named) ? named[given++] : undefined) ?? crypto.randomUUID();
    },
    forget: () => {
      state.generation++;
      streams.clear();
      sessions.clear();
      pushes.clear();
    },
  };
  return state;
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function parse(text: string): Fields | undefined {
  try {
    return JSON.parse(text) as Fields;
  } catch {
    return undefined;
  }
}
