import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { PlugboardError } from "../../../errors.ts";
import { isResponseTo } from "./response.ts";

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

/**
 * Listens on this machine only, for the one response that has the state; whoever else comes to the door ends nothing.
 * `ports` are tried in order; 0 is any free one.
 */
export async function startCallbackServer(
  server: string,
  state: string,
  ports: number[],
): Promise<CallbackServer> {
  const { promise, resolve } = Promise.withResolvers<Callback>();
  let isDone = false;
  const http = createServer((request, response) => {
    const url = URL.parse(request.url ?? "", "http://127.0.0.1");
    if (request.method !== "GET" || url?.pathname !== path) return respond(response, 404, nothingHere);
    if (!isResponseTo(url.searchParams, state)) return respond(response, 400, notThisOne);
    if (isDone) return respond(response, 410, isOver);
    isDone = true;
    resolve({
      params: url.searchParams,
      show: ({ ok, text }) =>
        ok
          ? respond(response, 200, { title: `Logged in to ${server}`, text: [text] })
          : respond(response, 400, { title: `Not logged in to ${server}`, text: [text, mayClose] }),
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

interface Page {
  title: string;
  text: string[];
}

const mayClose = "You can close this page.";
const nothingHere = {
  title: "Nothing is here",
  text: ["Only a login comes back to this address.", mayClose],
};
const notThisOne = {
  title: "Not the login that is waited for",
  text: ["What came back belongs to another login, or to none. It was not used.", mayClose],
};
const isOver = {
  title: "This login is over",
  text: ["Its response has arrived already. The terminal says how it went.", mayClose],
};

const style = `
:root { color-scheme: light dark; }
body { font: 1.1rem/1.5 system-ui, sans-serif; margin: 15vh auto; max-width: 32rem; padding: 0 1.5rem; }
h1 { border-left: .3rem solid light-dark(#b3261e, #f2827a); line-height: 1.2; overflow-wrap: anywhere; padding-left: 1rem; }
h1.ok { border-color: light-dark(#1a7f37, #57c878); }
footer { font-size: .85rem; margin-top: 3rem; opacity: .65; }
`;
const styleHash = createHash("sha256").update(style).digest("base64");
const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

function respond(response: ServerResponse, status: number, { title, text }: Page): void {
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policy,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    connection: "close",
  });
  const heading = escapeHtml(title);
  response.end(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${heading}</title>
<style>${style}</style>
<h1${status === 200 ? ' class="ok"' : ""}>${heading}</h1>
${text.map((line) => `<p>${escapeHtml(line)}</p>`).join("\n")}
<footer>Plugboard</footer>
`);
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
