import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { PlugboardError } from "../errors.ts";

export interface CallbackServer {
  redirectUri: string;
  /** What the browser came back with. Only the first time counts; the page then says how it went. */
  received: Promise<Callback>;
  close(): Promise<void>;
}

export interface Callback {
  params: URLSearchParams;
  /** Shows the page; nothing that came with the response is on it. */
  show(page: { ok: boolean; text: string }): void;
}

const path = "/callback";

/** Listens on this machine only, for one response. `ports` are tried in order; 0 is any free one. */
export async function startCallbackServer(server: string, ports: number[]): Promise<CallbackServer> {
  const { promise, resolve } = Promise.withResolvers<Callback>();
  let isDone = false;
  const http = createServer((request, response) => {
    const url = URL.parse(request.url ?? "", "http://127.0.0.1");
    if (request.method !== "GET" || url?.pathname !== path) return respond(response, 404, "Nothing is here.");
    if (isDone) return respond(response, 410, "This login is over.");
    isDone = true;
    resolve({
      params: url.searchParams,
      show: ({ ok, text }) => respond(response, ok ? 200 : 400, text),
    });
  });
  http.headersTimeout = 10_000;
  const port = await listen(http, server, ports);
  return {
    redirectUri: `http://127.0.0.1:${port}${path}`,
    received: promise,
    close: async () => {
      const closed = new Promise<void>((done) => void http.close(() => done()));
      http.closeIdleConnections();
      // A page that is still on its way gets a moment; a browser that just keeps its socket does not.
      const timer = setTimeout(() => http.closeAllConnections(), 500);
      await closed;
      clearTimeout(timer);
    },
  };
}

async function listen(http: ReturnType<typeof createServer>, server: string, ports: number[]) {
  for (const [index, port] of ports.entries()) {
    try {
      await new Promise<void>((done, fail) => {
        http.once("error", fail);
        http.listen(port, "127.0.0.1", () => {
          http.off("error", fail);
          done();
        });
      });
      return (http.address() as AddressInfo).port;
    } catch (error) {
      if (index < ports.length - 1) continue;
      const message = `Port ${port}, where the login of "${server}" should come back, cannot be used.`;
      const hint = "End the program that uses it, or change `oauth.callbackPort`.";
      throw new PlugboardError("auth-failed", message, { server, hint, cause: error, data: { port } });
    }
  }
  throw new PlugboardError("internal", "No port was given to listen on.");
}

function respond(response: ServerResponse, status: number, text: string): void {
  const title = status === 200 ? "Logged in" : "Not logged in";
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    connection: "close",
  });
  response.end(
    `<!doctype html><meta charset="utf-8"><title>${title}</title><body style="font:1.1rem system-ui;margin:15vh auto;max-width:32rem"><h1>${title}</h1><p>${escapeHtml(text)}</p>\n`,
  );
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
