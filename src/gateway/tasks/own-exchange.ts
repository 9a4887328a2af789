import { modernRevision } from "../../host.ts";
import type { Client, Exchange } from "../exchange.ts";
import { onAborted } from "../open-exchange.ts";
import type { Continuation } from "./running-task.ts";

/** The request of a task: its client can be asked by input that it requires, whichever era it is of. */
export function ownExchange(exchange: Exchange, signal: AbortSignal, more?: Continuation): Exchange {
  const { client, id, method } = exchange;
  const params = more ? exchange.params.with({ ...more }) : exchange.params;
  const teller = client.session ?? exchange;
  return {
    client: asModern(client),
    id,
    method,
    params,
    signal,
    onCancelled: onAborted(signal),
    notify: (...said) => teller.notify(...said),
  };
}

function asModern(client: Client): Client {
  if (client.era === "modern") return client;
  const { caller, sent, endpoint, transport, capabilities, info, logLevel } = client;
  return {
    era: "modern",
    revision: modernRevision,
    caller,
    sent,
    endpoint,
    transport,
    capabilities,
    info,
    logLevel,
  };
}
