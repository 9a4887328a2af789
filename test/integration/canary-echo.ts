import { onTestFinished } from "vitest";
import { startFakeHttp } from "../fixtures/fake/index.ts";
import { type Answer, type AuthReceived, listen } from "../fixtures/auth/listener.ts";
import { forward } from "../fixtures/auth/proxy.ts";

/** How a careless server repeats what it was sent. `said` begins with the credentials. */
export type Echo = (said: string, request: AuthReceived) => Answer;

const text = { "content-type": "text/plain" };
const json = { "content-type": "application/json" };
const stream = { "content-type": "text/event-stream" };
const id = ({ message }: AuthReceived) => message?.["id"] ?? null;
const inOneLine = (said: string) => said.replaceAll(/[^\x20-\x7e]|"/g, " ");

export const echoes = {
  "HTTP 400": plain(400),
  "HTTP 401": plain(401),
  "HTTP 403": plain(403),
  "HTTP 404": plain(404),
  "HTTP 429": plain(429),
  "HTTP 500": plain(500),
  "HTTP 503": plain(503),
  "HTTP 500, cut in the middle": (said) => ({
    status: 500,
    headers: text,
    body: `${"x".repeat(95)} ${said}`,
  }),
  "HTTP 500 in JSON": (said) => ({ status: 500, headers: json, body: JSON.stringify({ error: said }) }),
  "a challenge": (said) => ({
    status: 401,
    headers: { "www-authenticate": `Bearer error="invalid_token", error_description="${inOneLine(said)}"` },
  }),
  "a wish for scopes": (said) => ({
    status: 403,
    headers: { "www-authenticate": `Bearer error="insufficient_scope", scope="${inOneLine(said)}"` },
  }),
  "a content type": (said) => ({ status: 200, headers: { "content-type": `text/${inOneLine(said)}` } }),
  "a session id": (said) => ({
    status: 200,
    headers: { ...json, "mcp-session-id": `${inOneLine(said)} ` },
    body: "{}",
  }),
  "a redirect": (said) => ({
    status: 307,
    headers: { location: `http://localhost:1/${encodeURIComponent(said)}?${encodeURIComponent(said)}` },
  }),
  "no JSON": (said) => ({ status: 200, headers: json, body: said }),
  "half of a JSON": (said) => ({ status: 200, headers: json, body: `{"jsonrpc":"2.0","result":"${said}` }),
  "an HTML page": (said) => ({ status: 200, headers: { "content-type": "text/html" }, body: said }),
  "an event that is no JSON": (said, request) => {
    const error = JSON.stringify({
      jsonrpc: "2.0",
      id: id(request),
      error: { code: -32_000, message: "no" },
    });
    return { status: 200, headers: stream, body: `data: ${inOneLine(said)}\n\ndata: ${error}\n\n` };
  },
  "a JSON-RPC error": (said, request) => ({
    status: 200,
    headers: json,
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: id(request),
      error: { code: -32_000, message: said, data: { said, [said]: [said] } },
    }),
  }),
  "invalid params": (said, request) => ({
    status: 400,
    headers: json,
    body: JSON.stringify({ jsonrpc: "2.0", id: id(request), error: { code: -32_602, message: said } }),
  }),
  "log, progress and an error in events": (said, request) => {
    const params = request.message?.["params"] as { _meta?: { progressToken?: unknown } } | undefined;
    const progress = { progressToken: params?._meta?.progressToken, progress: 1, message: said };
    const events = [
      { method: "notifications/message", params: { level: "error", data: { said } } },
      { method: "notifications/progress", params: progress },
      { id: id(request), error: { code: -32_000, message: said } },
    ];
    const lines = events.map((event) => `data: ${JSON.stringify({ jsonrpc: "2.0", ...event })}\n\n`);
    return { status: 200, headers: stream, body: lines.join("") };
  },
} satisfies Record<string, Echo>;

function plain(status: number): Echo {
  return (said) => ({ status, headers: text, body: said });
}

/** The same from authorization servers. */
export const oauthEchoes = {
  "an OAuth error": (said) => ({
    status: 400,
    headers: json,
    body: JSON.stringify({
      error: "invalid_request",
      error_description: said,
      error_uri: `https://x/${said}`,
    }),
  }),
  "the code of an OAuth error": (said) => ({
    status: 400,
    headers: json,
    body: JSON.stringify({ error: said }),
  }),
  "an OAuth error as a success": (said) => ({
    status: 200,
    headers: json,
    body: JSON.stringify({ error: said, error_description: said }),
  }),
  "no OAuth": plain(400),
  "HTTP 500": plain(500),
  "no JSON": (said) => ({ status: 200, headers: json, body: said }),
  "half of a JSON": (said) => ({ status: 200, headers: json, body: `{"access_token":"${said}` }),
  "tokens in a wrong form": (said) => ({
    status: 200,
    headers: json,
    body: JSON.stringify({ access_token: [said], token_type: said, expires_in: said }),
  }),
  "another type of token": (said) => ({
    status: 200,
    headers: json,
    body: JSON.stringify({ access_token: said, token_type: said }),
  }),
  "a redirect": (said) => ({
    status: 307,
    headers: { location: `http://localhost:1/?${encodeURIComponent(said)}` },
  }),
} satisfies Record<string, Echo>;

export interface EchoServer {
  readonly origin: string;
  readonly url: string;
  /** From now on: how, and to which requests; the others are answered as they should be. */
  repeat(echo: Echo | undefined, to?: (request: AuthReceived) => boolean): void;
  readonly received: AuthReceived[];
  /** Repeats nothing of what came before. */
  forget(): void;
}

/**
 * In front of a server that works: repeats the credentials it was sent whenever it is told to. With a memory also those
 * of earlier requests.
 */
export async function startEcho(behind?: string, { hasMemory = false } = {}): Promise<EchoServer> {
  const mcp = behind === undefined ? await startFakeHttp({}) : undefined;
  const origin = new URL(behind ?? mcp?.url ?? "").origin;
  let how: Echo | undefined;
  let known = 0;
  let concerns: (request: AuthReceived) => boolean = () => true;
  const listener = await listen({
    endpointOf: () => "echo",
    answer: async (exchange) => {
      const { received } = exchange;
      if (!how || !concerns(received)) return forward(exchange, origin, {});
      const earlier = hasMemory ? listener.received.slice(known).toReversed() : [];
      return how([received, ...earlier].map(saidBy).join(" ").slice(0, 4_000), received);
    },
  });
  onTestFinished(async () => {
    await listener.close();
    await mcp?.close();
  });
  return {
    origin: listener.origin,
    url: `${listener.origin}/mcp`,
    received: listener.received,
    forget: () => void (known = listener.received.length),
    repeat: (echo, to = () => true) => {
      how = echo;
      concerns = to;
    },
  };
}

/** The credentials of a request, first those that it is about. */
function saidBy({ headers, path, params }: AuthReceived): string {
  const { authorization = "", ...rest } = headers;
  const own = Object.entries(rest).filter(([name]) => name.startsWith("x-") || name === "cookie");
  const [scheme = "", encoded = ""] = String(authorization).split(" ");
  const password = /^basic$/i.test(scheme) ? Buffer.from(encoded, "base64").toString() : "";
  const query = path.includes("?") ? path : "";
  return [authorization, ...own.map(([, value]) => value), password, query, ...params.values()]
    .filter((one) => one !== "")
    .join(" ");
}

export const isCall = ({ message }: AuthReceived) => message?.["method"] === "tools/call";
