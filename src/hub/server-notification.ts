import { isRecord } from "../lib/record.ts";
import { describeKey } from "../servers/connection-key.ts";
import type { ConnectionKey } from "../servers/connection-key.ts";
import type { Heard } from "../servers/rpc/inbound.ts";

/** What a server said by itself. */
export interface ServerNotification {
  server: string;
  method: string;
  /** Complete, without what is secret. */
  params: Record<string, unknown>;
  /** Absent if everybody who uses the server may hear it. */
  caller?: string;
  project?: string;
  account?: string;
  /** True if it came during a request whose `onNotification` has heard it, too. */
  isOfRequest: boolean;
}

/** Undefined for what only the connection understands. `caller` is whose connection it is, where its key does not say so. */
export function toNotification(
  key: ConnectionKey,
  method: string,
  heard: Heard,
  caller: string | undefined,
): ServerNotification | undefined {
  if (ofConnection.has(method)) return undefined;
  // A change concerns everybody, whoever is told of it; the rest may be about the request.
  const requester = isChange(method) ? undefined : heard.caller;
  const owner = key.caller ?? caller ?? requester;
  const { isOfRequest } = heard;
  const params = withoutSubscription(heard.shown());
  return {
    server: key.server,
    method,
    params,
    ...describeKey(key),
    ...(owner !== undefined && { caller: owner }),
    isOfRequest,
  };
}

/** They name requests and subscriptions by ids that are ours. */
const ofConnection = new Set([
  "notifications/cancelled",
  "notifications/progress",
  "notifications/subscriptions/acknowledged",
]);

function isChange(method: string): boolean {
  return method.endsWith("/list_changed") || method === "notifications/resources/updated";
}

/** The id of our own subscription means nothing to others. */
function withoutSubscription(params: Record<string, unknown>): Record<string, unknown> {
  const { _meta: meta, ...rest } = params;
  if (!isRecord(meta) || !(subscriptionKey in meta)) return params;
  const { [subscriptionKey]: _, ...others } = meta;
  return Object.keys(others).length === 0 ? rest : { ...rest, _meta: others };
}

const subscriptionKey = "io.modelcontextprotocol/subscriptionId";
