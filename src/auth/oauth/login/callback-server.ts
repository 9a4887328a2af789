import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { PlugboardError } from "../../../errors.ts";
import { isResponseTo } from "./response.ts";

export interface CallbackServer {
  redirectUri: string;
  /** The browser's first callback with the right state; its page shows the result. */
  received: Promise<Callback>;
  close(): Promise<void>;
}

export interface Callback {
  params: URLSearchParams;
  /** Shows the page, which contains nothing from the response. */
  show(page: { ok: boolean; text: string }): void;
}

const path = "/callback";

/**
 * Listens only on this machine, for the one response with the right state; other requests do not end the login.
 * Tries `ports` in order; 0 means any free port.
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
    if (request.method !== "GET" || url?.pathname !== path) return respond(response, 404, notFound);
    if (!isResponseTo(url.searchParams, state)) return respond(response, 400, wrongState);
    if (isDone) return respond(response, 410, alreadyReceived);
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
      // Gives a page that is still being sent a moment, but does not wait for a browser that keeps its socket open.
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
      const message = `Port ${port} for the login callback of "${server}" cannot be used.`;
      const hint = "Stop the program that uses it, or change `oauth.callbackPort`.";
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
const notFound = {
  title: "Page not found",
  text: ["This address is only used to finish a login.", mayClose],
};
const wrongState = {
  title: "Unexpected login response",
  text: ["This response does not belong to the login that is in progress. It was not used.", mayClose],
};
const alreadyReceived = {
  title: "This login is already finished",
  text: ["Its response was received earlier. See the terminal for the result.", mayClose],
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
