import type { ParsedParams } from "../../host.ts";
import type { Method } from "../core.ts";
import { viewOf } from "../exchange.ts";
import type { Client } from "../exchange.ts";
import { methodNotFound } from "../failure.ts";
import { forward } from "../forward.ts";

/**
 * Methods that the protocol does not know pass to the server that declares them, or to the only server of the endpoint.
 * The protocol's own have ways that follow the rules, whatever their spelling and however many servers there are.
 */
export const passRequest: Method = async (exchange, core) => {
  const { client, method, params } = exchange;
  const [server, other] = await client.endpoint.serversOf(method, "request");
  if (server === undefined || other !== undefined) throw methodNotFound(method);
  return forward(exchange, core, { server, params });
};

export async function passNotification(client: Client, method: string, params: ParsedParams): Promise<void> {
  try {
    const servers = await client.endpoint.serversOf(method, "notification");
    const view = viewOf(client);
    await Promise.allSettled(servers.map((server) => view.notify(server, method, params.value)));
  } catch {
    // A notification has no answer, so nobody can be told.
  }
}
