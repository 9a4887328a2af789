import { isRecord } from "../lib/record.ts";
import { describeKey } from "../servers/connection-key.ts";
import type { ConnectionKey } from "../servers/connection-key.ts";
import type { Heard } from "../servers/rpc/inbound.ts";
import type { MessageAudience } from "../servers/rpc/message-audience.ts";

/** What a server said by itself. */
export interface ServerNotification {
  server: string;
  method: string;
  /** Complete, without what is secret. */
  params: Record<string, unknown>;
  /** Which callers' views hear it. */
  audience: MessageAudience;
  project?: string;
  account?: string;
  /** Set if it came on a connection for the `headers` of a view: equal for equal ones, and otherwise meaningless. */
  headers?: string;
  /** True if it came during a request whose `onNotification` has heard it, too. */
  isOfRequest: boolean;
}

/** Undefined for what only the connection understands. */
export function toNotification(
  key: ConnectionKey,
  method: string,
  { audience, isOfRequest, shown }: Heard,
): ServerNotification | undefined {
  if (ofConnection.has(method)) return undefined;
  const { caller: _, ...where } = describeKey(key);
  const params = withoutSubscription(shown());
  return { server: key.server, method, params, audience, ...where, isOfRequest };
}

/** They name requests and subscriptions by ids that are ours. */
const ofConnection = new Set([
  "notifications/cancelled",
  "notifications/progress",
  "notifications/subscriptions/acknowledged",
]);

/** The id of our own subscription means nothing to others. */
function withoutSubscription(params: Record<string, unknown>): Record<string, unknown> {
  const { _meta: meta, ...rest } = params;
  if (!isRecord(meta) || !(subscriptionKey in meta)) return params;
  const { [subscriptionKey]: _, ...others } = meta;
  return Object.keys(others).length === 0 ? rest : { ...rest, _meta: others };
}

const subscriptionKey = "io.modelcontextprotocol/subscriptionId";
