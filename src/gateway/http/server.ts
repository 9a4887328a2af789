import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { spareConnections } from "../ledger.ts";
import type { AddressInfo } from "node:net";
import { PlugboardError } from "../../index.ts";
import { isOpen } from "./authentication.ts";
import type { AuthenticationOptions } from "./authentication.ts";
import { isLoopback } from "./edge.ts";
import type { Connections } from "./connections.ts";
import type { GatewayLimits } from "./limits.ts";

/** Where a gateway listens: by default on 127.0.0.1, at any free port. */
export interface ListenOptions {
  host?: string | undefined;
  /** 0, the default, is any free one. */
  port?: number | undefined;
}

export interface HttpServer {
  host: string;
  port: number;
  /** Accepts no more connections, and ends each one that has no request, now or later. */
  stop(): void;
  /** Ends all connections. Answers that are on their way get a moment to arrive. */
  close(): Promise<void>;
}

const closingIntervalMs = 50;
const arrivalMs = 1_000;

/** Listens on loopback, unless told otherwise; elsewhere only with authentication. */
export async function listen(
  listener: (request: IncomingMessage, response: ServerResponse) => void,
  { host = "127.0.0.1", port = 0 }: ListenOptions,
  limits: GatewayLimits,
  authentication: AuthenticationOptions,
  connections: Connections,
): Promise<HttpServer> {
  if (isOpen(authentication) && !isLoopback(host))
    throw new PlugboardError(
      "usage-invalid",
      `Without authentication the gateway listens only on this machine, not on "${host}".`,
      { hint: "Use a token, or listen on 127.0.0.1." },
    );
  if (host === "")
    throw new PlugboardError(
      "usage-invalid",
      "The address to listen on is empty, which would mean every network of this machine.",
      { hint: "Leave it out to listen on 127.0.0.1, or write 0.0.0.0 if all networks are meant." },
    );
  const server = createServer(
    {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headerMs,
      requestTimeout: limits.requestMs,
      // A client that sends its request too slowly is noticed within this time.
      connectionsCheckingInterval: Math.min(5_000, limits.headerMs),
      keepAliveTimeout: limits.idleConnectionMs,
      // Finds out about clients that vanished without closing their connection.
      keepAlive: true,
      keepAliveInitialDelay: 30_000,
      noDelay: true,
    },
    listener,
  );
  // The request says whether a connection beyond the limit is worth another one. This is for what comes all at once.
  server.maxConnections = limits.connections + 2 * spareConnections(limits);
  server.on("connection", connections.add);
  // Node.js would ask for the body by itself, before it is known who sends it.
  server.on("checkContinue", listener);
  // Node.js silently leaves out what is beyond this number; the length is limited anyway.
  server.maxHeadersCount = 0;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(cannotListen(error, host, port)));
    server.listen(port, host.replace(/^\[(.*)\]$/, "$1"), resolve);
  });
  const address = server.address() as AddressInfo;
  const closed = new Promise<void>((resolve) => server.once("close", resolve));
  let closing: NodeJS.Timeout | undefined;
  const stop = () => {
    if (closing) return;
    closing = setInterval(() => server.closeIdleConnections(), closingIntervalMs);
    server.close(() => clearInterval(closing));
  };
  return {
    host: address.family === "IPv6" ? `[${address.address}]` : address.address,
    port: address.port,
    stop,
    close: async () => {
      stop();
      const force = setTimeout(() => server.closeAllConnections(), arrivalMs);
      await closed;
      clearTimeout(force);
    },
  };
}

function cannotListen(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const { code = "unknown" } = error;
  const isAddress = code === "ENOTFOUND" || code === "EADDRNOTAVAIL" || code === "EAI_AGAIN";
  const problem = isAddress
    ? `${host} is not an address of this machine (${code}).`
    : code === "EADDRINUSE"
      ? `Port ${port} is in use.`
      : `Cannot listen on ${host}:${port} (${code}).`;
  const [option, setting] = isAddress ? ["--host", "gateway.host"] : ["--port", "gateway.port"];
  return new PlugboardError("usage-invalid", problem, {
    hint: `Choose another one with \`${option}\`, or \`${setting}\` in the configuration.`,
    cause: error,
  });
}
