import type { Telemetry } from "../lib/telemetry.ts";
import type { PassedHeaders } from "./passed-headers.ts";
import type { GatewayLimits } from "./http/limits.ts";

/** How the gateway names tools and prompts. */
export interface GatewayNames {
  /** `server__tool`, `mcp__server__tool`, or the server's own names, for an endpoint of exactly one server. */
  style?: "server" | "mcp" | "plain" | undefined;
  maxLength?: number | undefined;
}

/** Who may use a gateway, and how it names and limits things. Everything is optional. */
export interface GatewayOptions {
  /** Who makes a request: the caller's id, or undefined for a 401. Default: whoever sends the token. */
  authenticate?:
    | ((request: { headers: Headers }) => string | undefined | Promise<string | undefined>)
    | undefined;
  /** Whoever sends it in `Authorization: Bearer` is the caller `token`. */
  token?: string | undefined;
  /** `none` lets everybody in, and is accepted only on loopback. */
  auth?: "token" | "none" | undefined;
  /** Default: `gateway.names` of the configuration, else `server` with at most 48 characters. */
  names?: GatewayNames | undefined;
  /** Offer only this bundle: it is what `/mcp` shows, and there is no other path. */
  bundle?: string | undefined;
  /** Which headers of clients reach which server: `{ server: { "X-Theirs": "Authorization" } }`. Default: the configuration's. */
  headers?: PassedHeaders | undefined;
  /** Hosts to accept in the `Host` header, beside the names of this machine's loopback. */
  allowedHosts?: readonly string[] | undefined;
  /** Origins of pages that may use the gateway, beside none. */
  allowedOrigins?: readonly string[] | undefined;
  /** What the gateway accepts and keeps, where the defaults do not fit. */
  limits?: Partial<GatewayLimits> | undefined;
  /** The key of everything that clients carry for us, 32 bytes. Default: a new one. */
  sealKey?: Buffer | undefined;
  /** The key of those who answer questions about calls at `/api/approvals`. Clients must not know it. Default: nobody can. */
  approvalKey?: string | undefined;
  /** Hears of every request of a client: `await openTelemetry()` of `plugboard/telemetry`. Default: nobody does. */
  telemetry?: Telemetry | undefined;
  /** Tells what happens, one line each. */
  onLog?: ((line: string) => void) | undefined;
}
