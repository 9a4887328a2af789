import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable, Writable } from "node:stream";
import type { Hub } from "../index.ts";
import { uiExtension } from "./apps.ts";
import type { Core } from "./core.ts";
import { createDispatcher } from "./dispatcher.ts";
import { Endpoint } from "./endpoint.ts";
import type { Dispatcher } from "./exchange.ts";
import { questionCredential } from "./http/approvals.ts";
import { createFetch } from "./http/fetch.ts";
import { HttpFront } from "./http/front.ts";
import { createListener } from "./http/listener.ts";
import { defaultLimits } from "./http/limits.ts";
import type { GatewayLimits } from "./http/limits.ts";
import { listen } from "./http/server.ts";
import type { HttpServer, ListenOptions } from "./http/server.ts";
import { Ledger, holdLimits } from "./ledger.ts";
import { Lineage } from "./lineage.ts";
import { LogLevels } from "./log-levels.ts";
import type { GatewayNames, GatewayOptions } from "./options.ts";
import { ParkedCalls } from "./parked-calls.ts";
import type { PassedHeaders } from "./passed-headers.ts";
import { Seal } from "./seal.ts";
import { openPipe } from "./stdio.ts";
import type { Pipe } from "./stdio.ts";
import { GatewayTasks } from "./tasks/gateway-tasks.ts";

/** All servers of a hub as one MCP server, for clients of both eras. */
export interface Gateway {
  /** Serves a web-standard request. */
  fetch(request: Request): Promise<Response>;
  /** Serves a request of `node:http`. */
  readonly listener: (request: IncomingMessage, response: ServerResponse) => void;
  /** Listens for HTTP, on loopback and any free port unless told otherwise. Call it once. */
  listen(options?: ListenOptions): Promise<{ url: string; port: number }>;
  /** Serves the client at the other end of a pipe; resolves when the input ends. `bundle` narrows what it sees. */
  serveStdio(options?: { input?: Readable; output?: Writable; bundle?: string }): Promise<void>;
  /** Lets requests under way finish, for 10 s unless told otherwise, and ends everything. */
  close(options?: { drainMs?: number }): Promise<void>;
}

const defaultDrainMs = 10_000;

/** What the gateway can pass on to clients, so that servers dare to ask. Each client's own capabilities decide. */
const capabilities = {
  elicitation: { form: {}, url: {} },
  sampling: {},
  roots: { listChanged: true },
  extensions: { [uiExtension]: { mimeTypes: ["text/html;profile=mcp-app"] } },
};

/** Options for a hub that a gateway serves: servers start at once and keep running, and their lists are kept fresh. */
export const servingOptions = { eager: true, keepFresh: true, capabilities } as const;

/** Offers all servers of a hub as one MCP server. Close it before the hub. */
export function createGateway(hub: Hub, options: GatewayOptions = {}): Gateway {
  const served = new Served(hub, options);
  const { dispatcher, core } = served;
  const { logLevels, seal, ledger } = core;
  const { limits } = served;
  const endpoint = (bundle?: string) => served.endpoint(bundle);
  const { approvalKey: key } = options;
  if (key !== undefined && key === options.token)
    throw new Error("The approval key must not be the clients' token.");
  const approvals = { hub, key };
  const front = new HttpFront({
    ...options,
    limits,
    dispatcher,
    logLevels,
    seal,
    ledger,
    endpoint,
    approvals,
  });
  const listener = createListener(front.handle, limits, front.connections);
  const servers: HttpServer[] = [];
  const pipes = new Set<Pipe>();
  return {
    fetch: createFetch(front.handle),
    listener,
    listen: async (address = {}) => {
      const server = await listen(listener, address, limits, options, front.connections);
      servers.push(server);
      const { host, port } = server;
      if (key !== undefined)
        hub.approvals.answerAt((id) => ({
          url: `http://${reachable(host, options)}:${port}/api/approvals/${id}`,
          credential: questionCredential(key, id),
        }));
      tellWaiting(hub);
      return { url: `http://${host}:${port}/mcp`, port };
    },
    serveStdio: async ({ input = process.stdin, output = process.stdout, bundle } = {}) => {
      const chosen = endpoint(bundle);
      if (!chosen) throw new Error(`There is no bundle "${bundle ?? options.bundle}".`);
      const drainMs = defaultDrainMs;
      const pipe = openPipe({ endpoint: chosen, dispatcher, logLevels, input, output, drainMs });
      pipes.add(pipe);
      tellWaiting(hub);
      await pipe.ended.finally(() => pipes.delete(pipe));
    },
    close: async ({ drainMs = defaultDrainMs } = {}) => {
      for (const server of servers) server.stop();
      core.closing.abort();
      await Promise.all([front.close(drainMs), ...[...pipes].map((pipe) => pipe.stop(drainMs))]);
      await Promise.all(servers.splice(0).map((server) => server.close()));
      served.close();
    },
  };
}

/** Without the store, calls cannot wait either, and say so. */
function tellWaiting({ approvals }: Hub): void {
  approvals.tellWaiting().catch(() => undefined);
}

/** A host that others can use in place of one that stands for all addresses. */
function reachable(host: string, { allowedHosts: [named] = [] }: GatewayOptions): string {
  const isAll = /^(?:0\.0\.0\.0|\[?::\]?)$/.test(host);
  return isAll ? (named?.replace(/:\d+$/, "") ?? "127.0.0.1") : host;
}

/** What all transports share. */
export class Served {
  readonly core: Core;
  readonly dispatcher: Dispatcher;
  readonly limits: GatewayLimits;
  readonly #names: GatewayNames | undefined;
  readonly #onLog: GatewayOptions["onLog"];
  /** As configured now. */
  readonly #passed: () => PassedHeaders | undefined;
  /** The bundle that takes the place of everything. */
  readonly #only: string | undefined;
  readonly #endpoints = new Map<string, Endpoint>();

  constructor(hub: Hub, options: GatewayOptions) {
    const { names = hub.config.settings.gateway?.names, sealKey, bundle, limits, headers } = options;
    this.#only = bundle;
    const given = { ...hub.config.settings.gateway?.limits, ...limits };
    const chosen = Object.entries(given).filter(([, value]) => value !== undefined);
    this.limits = { ...defaultLimits, ...(Object.fromEntries(chosen) as Partial<GatewayLimits>) };
    const ledger = new Ledger(holdLimits(this.limits));
    const parked = new ParkedCalls(() => this.core);
    const logLevels = new LogLevels((level) => hub.setLogLevel(level));
    const tasks = new GatewayTasks(this.limits.taskAfterMs, ledger);
    const lineage = new Lineage(hub, (server) => {
      options.onLog?.(
        `${server}: switched off, because it is a gateway that has this one among its servers. Remove one of the two entries, and restart.`,
      );
      // It may be gone from the configuration by now.
      hub.disable(server).catch(() => undefined);
    });
    this.#passed = () => headers ?? hub.config.settings.gateway?.headers;
    this.core = {
      hub,
      seal: new Seal(sealKey),
      ledger,
      parked,
      logLevels,
      tasks,
      lineage,
      closing: new AbortController(),
      telemetry: options.telemetry,
    };
    // Said before any client comes: a legacy server learns it only when it connects.
    hub.view({ capabilities });
    this.dispatcher = createDispatcher(this.core);
    this.#names = names;
    this.#onLog = options.onLog;
  }

  /** The endpoint of a bundle, or of everything; undefined if there is no such bundle. */
  endpoint(asked: string | undefined): Endpoint | undefined {
    const { hub } = this.core;
    if (this.#only !== undefined && asked !== undefined && asked !== this.#only) return undefined;
    const bundle = asked ?? this.#only;
    if (bundle !== undefined && !hub.config.bundles.has(bundle)) return undefined;
    const key = bundle ?? "";
    const known = this.#endpoints.get(key);
    if (known) return known;
    const { ledger } = this.core;
    const endpoint = new Endpoint({
      hub,
      bundle,
      names: this.#names,
      capabilities,
      headers: this.#passed,
      ledger,
      onLog: this.#onLog,
    });
    this.#endpoints.set(key, endpoint);
    return endpoint;
  }

  close(): void {
    this.core.tasks.close();
    this.core.lineage.close();
    this.core.parked.close();
    this.core.logLevels.close();
    for (const endpoint of this.#endpoints.values()) endpoint.close();
  }
}
