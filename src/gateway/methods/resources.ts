import type { Method } from "../core.ts";
import { viewOf } from "../exchange.ts";
import { PlugboardError } from "../../index.ts";
import { invalidParams, methodNotFound } from "../failure.ts";
import { inUse } from "../holding.ts";
import { forward } from "../forward.ts";
import { ownerOf } from "../resource-owners.ts";
import type { Exchange } from "../exchange.ts";

export const readResource: Method = async (exchange, core) => {
  const { client, params } = exchange;
  const { server, uri } = await ownerOf(uriOf(exchange), client, exchange.signal);
  const answer = await forward(exchange, core, { server, params: params.with({ uri }) });
  if (!("error" in answer) && uri.startsWith("ui://")) client.endpoint.links(client).addPage(server);
  return answer;
};

export const subscribe: Method = async (exchange, { ledger }) => {
  const { client } = exchange;
  const { session } = client;
  if (!session) throw methodNotFound(exchange.method);
  const shown = uriOf(exchange);
  if (session.subscriptions.has(shown)) return { result: {} };
  const holding = ledger.hold(client.caller, "subscriptions", inUse, shown.length);
  if (!holding) throw tooManySubscriptions();
  try {
    const { server, uri } = await ownerOf(shown, client, exchange.signal);
    const stop = await viewOf(client).subscribeResource(
      server,
      uri,
      () => session.notify("notifications/resources/updated", { uri: shown }),
      // A client that asks again must not be taken for one that has it still.
      { signal: exchange.signal, onRefused: ({ code }) => void (code === "server-unknown" && forget()) },
    );
    const end = () => {
      holding.release();
      void stop();
    };
    const forget = () => {
      holding.release();
      if (session.subscriptions.get(shown) === end) session.subscriptions.delete(shown);
    };
    session.subscriptions.get(shown)?.();
    session.subscriptions.set(shown, end);
  } catch (error) {
    holding.release();
    throw error;
  }
  return { result: {} };
};

export const unsubscribe: Method = (exchange) => {
  const { session } = exchange.client;
  if (!session) throw methodNotFound(exchange.method);
  const uri = uriOf(exchange);
  session.subscriptions.get(uri)?.();
  session.subscriptions.delete(uri);
  return { result: {} };
};

function tooManySubscriptions(): PlugboardError {
  return new PlugboardError("rate-limited", "There are too many subscriptions to resources.", {
    hint: "End some of them with `resources/unsubscribe`, and try again.",
    executed: "no",
  });
}

function uriOf({ params }: Exchange): string {
  const { uri } = params.value;
  if (typeof uri === "string") return uri;
  throw invalidParams("`uri` must be a string.");
}
