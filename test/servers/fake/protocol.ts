import type { Fields, Script } from "./script.ts";

export type Era = "legacy" | "modern";
export type RequestId = string | number;

export const LEGACY_REVISIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"];
export const MODERN_REVISIONS = ["2026-07-28"];

export const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
export const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";
export const CLIENT_KEY = "io.modelcontextprotocol/clientInfo";
export const SERVER_KEY = "io.modelcontextprotocol/serverInfo";
export const SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId";

/** An answer that is an error; `status` is the HTTP status where it is not 200. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;
  readonly status: number;

  constructor(code: number, message: string, options: { data?: unknown; status?: number } = {}) {
    super(message);
    this.code = code;
    this.data = options.data;
    this.status = options.status ?? 200;
  }

  toJSON(): Fields {
    return {
      code: this.code,
      message: this.message,
      ...(this.data === undefined ? {} : { data: this.data }),
    };
  }
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isAnswer(message: unknown): boolean {
  return isFields(message) && message["method"] === undefined && message["id"] !== undefined;
}

/** The id of a request, undefined for notifications. */
export function requestId(message: Fields | undefined): RequestId | undefined {
  const id = message?.["id"];
  return typeof message?.["method"] === "string" && (typeof id === "string" || typeof id === "number")
    ? id
    : undefined;
}

export function paramsOf(message: Fields | undefined): Fields {
  const params = message?.["params"];
  return isFields(params) ? params : {};
}

export function metaOf(message: Fields | undefined): Fields {
  const meta = paramsOf(message)["_meta"];
  return isFields(meta) ? meta : {};
}

export function isModern(version: string): boolean {
  return version >= "2026-07-28";
}

/** The revisions of one era that a script speaks, preferred first. */
export function revisions(script: Script, era: Era): string[] {
  const versions = script.versions ?? "both";
  const all = era === "modern" ? MODERN_REVISIONS : LEGACY_REVISIONS;
  if (typeof versions === "string") return versions === "both" || versions === era ? all : [];
  return versions.filter((version) => isModern(version) === (era === "modern"));
}

const CACHEABLE = new Set([
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "server/discover",
]);

export const serverInfo = (script: Script): Fields => script.serverInfo ?? { name: "fake", version: "1.0.0" };

/** What every result of the 2026-07-28 revision must or should carry; what is there already wins. */
export function modernResult(script: Script, method: unknown, result: Fields): Fields {
  const meta = result["_meta"];
  const complete = (result["resultType"] ?? "complete") === "complete";
  return {
    resultType: "complete",
    ...(complete && CACHEABLE.has(String(method)) && (script.cache ?? { ttlMs: 0, cacheScope: "private" })),
    ...result,
    ...((meta === undefined || isFields(meta)) && { _meta: { [SERVER_KEY]: serverInfo(script), ...meta } }),
  };
}
