import type { Exchange } from "./exchange.ts";
import type { Stream } from "./fake-server.ts";
import { resultOf } from "./methods.ts";
import {
  type Era,
  isFields,
  paramsOf,
  type RequestId,
  RpcError,
  serverInfo,
  SERVER_KEY,
  SUBSCRIPTION_KEY,
} from "./protocol.ts";
import type { Delivery, Fields } from "./script.ts";

/** What a correct server does with a message. A cancelled request gets no answer. */
export async function behave(exchange: Exchange, delivery: Delivery): Promise<void> {
  const { incoming, id } = exchange;
  exchange.delivery = delivery;
  try {
    if (incoming.message === undefined) return incoming.instead?.();
    const era = exchange.era();
    if (!(await passes(exchange, era))) return undefined;
    if (id === undefined) return undefined;
    if (era === "modern" && incoming.message["method"] === "subscriptions/listen")
      return await listen(exchange);
    await exchange.answer(await resultOf(exchange, era));
  } catch (error) {
    if (exchange.signal.aborted) return undefined;
    if (!(error instanceof RpcError)) throw error;
    await exchange.fail(error);
  }
}

/** Errors of the transport are about no request in particular. */
async function passes(exchange: Exchange, era: Era): Promise<boolean> {
  try {
    exchange.incoming.gate?.(era);
    return true;
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    await exchange.fail(error, { ...exchange.delivery, id: null });
    return false;
  }
}

/** `subscriptions/listen`: says which changes will be told, and keeps the stream for them. */
async function listen(exchange: Exchange): Promise<void> {
  const { server, outlet } = exchange;
  const id = exchange.id as RequestId;
  const asked = paramsOf(exchange.incoming.message)["notifications"];
  if (!isFields(asked)) {
    throw new RpcError(
      -32602,
      "Invalid params: 'notifications' is required and must be a valid SubscriptionFilter",
    );
  }
  const filter = honoured(asked, server.script.capabilities);
  const say = (message: Fields): Promise<void> => exchange.say({ jsonrpc: "2.0", ...message });
  const stream: Stream = {
    scope: outlet.scope,
    era: "modern",
    push: say,
    subscription: { id, filter },
  };
  const acknowledged = { notifications: filter, _meta: { [SUBSCRIPTION_KEY]: id } };
  await say({ method: "notifications/subscriptions/acknowledged", params: acknowledged });
  if (Object.keys(filter).length > 0) {
    server.streams.add(stream);
  } else {
    await exchange.answer({ _meta: { [SUBSCRIPTION_KEY]: id, [SERVER_KEY]: serverInfo(server.script) } });
  }
}

function honoured(asked: Fields, capabilities: Fields | undefined): Fields {
  const can = (kind: string, what: string): boolean => {
    const declared = capabilities?.[kind];
    return capabilities === undefined || (isFields(declared) && declared[what] === true);
  };
  const filter: Fields = {};
  for (const kind of ["tools", "prompts", "resources"]) {
    const key = `${kind}ListChanged`;
    if (asked[key] === true && can(kind, "listChanged")) filter[key] = true;
  }
  const uris = asked["resourceSubscriptions"];
  if (Array.isArray(uris) && uris.length > 0 && can("resources", "subscribe"))
    filter["resourceSubscriptions"] = uris;
  return filter;
}
