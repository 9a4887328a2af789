import type { HttpRefusal } from "./refusal.ts";
import type { HttpRequest, ReplyHeaders } from "./request.ts";

export interface EdgeOptions {
  /** `name` (any port) or `name:port`. */
  allowedHosts?: readonly string[] | undefined;
  /** `https://app.example.com`. */
  allowedOrigins?: readonly string[] | undefined;
}

const loopbackNames = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Keeps web pages out. A page can make a browser send requests to this machine, also under a name of its own that
 * leads here (DNS rebinding); the browser then says so in `Host` and `Origin`.
 */
export class Edge {
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;
  /** The last `Host` that was found to be ours, and where it was received: most requests repeat it. */
  #last: { host: string; localPort: number; localAddress: string } | undefined;

  constructor({ allowedHosts = [], allowedOrigins = [] }: EdgeOptions) {
    this.#hosts = new Set(allowedHosts.map((host) => host.toLowerCase()));
    this.#origins = new Set(allowedOrigins.map((origin) => origin.toLowerCase().replace(/\/$/, "")));
  }

  /** Why a request is not looked at any further, whatever its path. */
  refusal(request: HttpRequest): HttpRefusal | undefined {
    const { ambiguity } = request;
    if (ambiguity !== undefined) return { status: 400, message: ambiguity };
    const host = request.header("host");
    if (host === undefined || !this.#isOurs(host, request))
      return { status: 403, message: "This host name is not allowed. Add it to allowedHosts to use it." };
    const origin = request.header("origin")?.toLowerCase();
    if (origin === undefined || this.#origins.has(origin) || this.#isOwnPage(origin, request))
      return undefined;
    return { status: 403, message: "This origin is not allowed. Add it to allowedOrigins to use it." };
  }

  /** What a page of an allowed origin needs to read the answer; nothing for anybody else. */
  cors(request: HttpRequest): ReplyHeaders {
    const origin = request.header("origin");
    if (origin === undefined || !this.#origins.has(origin.toLowerCase())) return noHeaders;
    return {
      "access-control-allow-origin": origin,
      "access-control-expose-headers": "Mcp-Session-Id, WWW-Authenticate, Retry-After",
      vary: "Origin",
    };
  }

  /** The answer to a browser that asks before it sends a request; undefined if this is not such a question. */
  preflight(request: HttpRequest, methods: string): ReplyHeaders | undefined {
    if (request.method !== "OPTIONS" || request.header("access-control-request-method") === undefined) return;
    const cors = this.cors(request);
    if (cors["vary"] === undefined) return undefined;
    const wanted = (request.header("access-control-request-headers") ?? "").split(",", 100);
    const names = wanted.map((name) => name.trim().toLowerCase()).filter((name) => usedHeader.test(name));
    return {
      ...cors,
      "access-control-allow-methods": methods,
      "access-control-allow-headers": names.join(", "),
      "access-control-max-age": "600",
    };
  }

  #isOurs(host: string, { received }: HttpRequest): boolean {
    const last = this.#last;
    if (
      last?.host === host &&
      last.localPort === received?.localPort &&
      last.localAddress === received.localAddress
    )
      return true;
    const isOurs = this.#judge(host, received);
    if (isOurs && received) this.#last = { host, ...received };
    return isOurs;
  }

  #judge(host: string, received: HttpRequest["received"]): boolean {
    const { name, port } = splitHost(host.toLowerCase());
    if (this.#hosts.has(name) || this.#hosts.has(`${name}:${port ?? ""}`)) return true;
    if (!received) return loopbackNames.has(name);
    const isThisPort = isPort(port, received.localPort);
    // An address cannot be rebound: a page that is shown under it came from there.
    return isThisPort && (loopbackNames.has(name) || name === hostOfAddress(received.localAddress));
  }

  /** A page that this very port served. */
  #isOwnPage(origin: string, request: HttpRequest): boolean {
    const page = /^https?:\/\/([^/?#@]+)$/.exec(origin)?.[1];
    if (page === undefined) return false;
    const { name, port } = splitHost(page);
    const own = splitHost((request.header("host") ?? "").toLowerCase());
    if (request.received) return loopbackNames.has(name) && isPort(port, request.received.localPort);
    return loopbackNames.has(name) && port === own.port;
  }
}

const noHeaders: ReplyHeaders = {};

const usedHeader =
  /^(accept|authorization|content-type|last-event-id|mcp-method|mcp-name|mcp-protocol-version|mcp-session-id|mcp-param-[\w-]+)$/;

/** The usual ports are not written. */
function isPort(written: string | undefined, port: number): boolean {
  return written === undefined ? port === 80 || port === 443 : written === String(port);
}

function splitHost(host: string): { name: string; port: string | undefined } {
  const colon = host.lastIndexOf(":");
  if (colon === -1 || host.endsWith("]")) return { name: host, port: undefined };
  return { name: host.slice(0, colon), port: host.slice(colon + 1) };
}

function hostOfAddress(address: string): string {
  const plain = address.startsWith("::ffff:") ? address.slice("::ffff:".length) : address;
  return plain.includes(":") ? `[${plain}]` : plain;
}

/** Whether only programs on this machine can reach the address. */
export function isLoopback(address: string): boolean {
  const plain = address.startsWith("::ffff:") ? address.slice("::ffff:".length) : address;
  return plain === "localhost" || plain === "::1" || plain === "[::1]" || /^127(\.\d{1,3}){3}$/.test(plain);
}
