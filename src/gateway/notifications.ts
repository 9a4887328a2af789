import { logLevels } from "../host.ts";
import type { LogLevel, Progress } from "../host.ts";
import { mayPass } from "../lib/protocol-method.ts";
import { isRecord } from "../lib/record.ts";
import type { Client, Exchange } from "./exchange.ts";
import { copyExactMember } from "../lib/exact-json.ts";

/** Passes progress on with the client's own token, if it asked for any. */
export function passProgress(exchange: Exchange, { params, progress }: Progress): void {
  const { _meta: meta } = exchange.params.value;
  const token = isRecord(meta) ? meta["progressToken"] : undefined;
  if (!isRecord(meta) || (typeof token !== "string" && typeof token !== "number")) return;
  const said = { progress, ...params, progressToken: token };
  exchange.notify("notifications/progress", copyExactMember(meta, "progressToken", said));
}

/** Passes on what a server says during a request: log messages that the client wants, and what only this server knows. */
export function passMessage(exchange: Exchange, method: string, params: Record<string, unknown>): void {
  if (isForClient(exchange.client, method, params)) exchange.notify(method, params);
}

/** Whether a notification of a server is for this client as it is. Changes, progress and cancellation have ways of their own. */
export function isForClient(client: Client, method: string, params: Record<string, unknown>): boolean {
  if (method === "notifications/message") return isWanted(client.logLevel, params["level"]);
  if (method === "notifications/elicitation/complete") return client.era === "legacy";
  return client.endpoint.onlyServer() !== undefined && mayPass(method, "notification", client.capabilities);
}

function isWanted(least: LogLevel | undefined, level: unknown): boolean {
  if (least === undefined) return false;
  const at = logLevels.findIndex((one) => one === level);
  return at === -1 || at >= logLevels.indexOf(least);
}
