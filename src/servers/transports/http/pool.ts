import { createSecureContext, getCACertificates, type SecureContext } from "node:tls";
import { Agent, type Dispatcher, ProxyAgent } from "undici/index.js";
import { PlugboardError } from "../../../errors.ts";
import type { Environment } from "../../../lib/folders.ts";
import { printable } from "../../../lib/printable.ts";
import { proxyFor } from "./proxy.ts";

/** A server's `network` settings, with the contents of the files they name. */
export interface HttpNetwork {
  proxy?: string | undefined;
  /** Certificates to trust in addition to Node's. */
  ca?: string | undefined;
  cert?: string | undefined;
  key?: string | undefined;
}

export interface HttpPoolSettings {
  server: string;
  /** The client certificate is sent to this origin only. */
  origin: string;
  network: HttpNetwork;
  env: Environment;
  connectTimeoutMs: number;
}

/** The route of a request: a pool of keep-alive sockets, and the proxy if there is one. */
export interface Route {
  dispatcher: Dispatcher;
  /** Without credentials, for use in error messages. */
  proxy: string | undefined;
}

/** The sockets for one server. Requests to other hosts, for logins, may use a different proxy. */
export class HttpPool {
  readonly #settings: HttpPoolSettings;
  readonly #routes = new Map<string, Route>();
  readonly #dispatchers = new Map<string, Dispatcher>();
  #closed = false;

  constructor(settings: HttpPoolSettings) {
    this.#settings = settings;
  }

  route(url: URL): Route {
    const known = this.#routes.get(url.origin);
    if (known !== undefined) return known;
    const { server, network, env, origin } = this.#settings;
    if (this.#closed)
      throw new PlugboardError("connection-lost", `The connection to "${server}" is closed.`, {
        server,
        executed: "no",
      });
    const proxy = proxyFor(url, network.proxy, env);
    const isOwn = url.origin === origin;
    const key = `${isOwn ? "own" : "other"} ${proxy ?? ""}`;
    const dispatcher = this.#dispatchers.get(key) ?? this.#create(proxy, isOwn);
    this.#dispatchers.set(key, dispatcher);
    const route = { dispatcher, proxy: proxy === undefined ? undefined : new URL(proxy).origin };
    this.#routes.set(url.origin, route);
    return route;
  }

  /** Closes every socket, including those in use. */
  async close(): Promise<void> {
    this.#closed = true;
    const dispatchers = [...this.#dispatchers.values()];
    this.#dispatchers.clear();
    this.#routes.clear();
    await Promise.all(dispatchers.map((dispatcher) => dispatcher.destroy()));
  }

  #create(proxy: string | undefined, isOwn: boolean): Dispatcher {
    const { connectTimeoutMs } = this.#settings;
    const secure = (own: boolean): { timeout: number; secureContext?: SecureContext } => {
      const secureContext = this.#secureContext(own);
      return { timeout: connectTimeoutMs, ...(secureContext && { secureContext }) };
    };
    // Each call has its own request, so HTTP/2 would only make calls that share a socket fail together.
    const common = { allowH2: false, headersTimeout: 0, bodyTimeout: 0 };
    if (proxy === undefined) return new Agent({ ...common, connect: secure(isOwn) });
    this.#checkProxy(proxy);
    return new ProxyAgent({
      ...common,
      uri: proxy,
      connectTimeout: connectTimeoutMs,
      requestTls: secure(isOwn),
      proxyTls: secure(false),
    });
  }

  /** Shared by all sockets, because loading the trusted certificates takes milliseconds. */
  #secureContext(isOwn: boolean): SecureContext | undefined {
    const { server, network } = this.#settings;
    const { ca, cert, key } = network;
    if (ca === undefined && (!isOwn || (cert === undefined && key === undefined))) return undefined;
    try {
      return createSecureContext({
        ...(ca !== undefined && { ca: [...getCACertificates("default"), ca] }),
        ...(isOwn && cert !== undefined && { cert }),
        ...(isOwn && key !== undefined && { key }),
      });
    } catch (cause) {
      const reason = printable(cause instanceof Error ? cause.message : String(cause), { oneLine: true });
      throw new PlugboardError(
        "config-invalid",
        `The certificates configured for "${server}" cannot be used: ${reason}.`,
        {
          server,
          cause,
          hint: "Check `network.ca`, `network.cert` and `network.key`: PEM files, the key without a passphrase.",
        },
      );
    }
  }

  #checkProxy(proxy: string): void {
    const { server } = this.#settings;
    const protocol = URL.canParse(proxy) ? new URL(proxy).protocol : "";
    if (protocol === "http:" || protocol === "https:") return;
    throw new PlugboardError("config-invalid", `The proxy for "${server}" is not an http or https URL.`, {
      server,
      hint: "Set `network.proxy` to something like http://proxy.example:3128, or to `none`.",
    });
  }
}
