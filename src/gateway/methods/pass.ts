import type { ParsedParams } from "../../index.ts";
import type { Method } from "../core.ts";
import { viewOf } from "../exchange.ts";
import type { Client } from "../exchange.ts";
import { methodNotFound } from "../failure.ts";
import { forward } from "../forward.ts";

/** Methods that we do not know pass to the only server of an endpoint, and mean nothing where there are several. */
export const passRequest: Method = (exchange, core) => {
  const server = exchange.client.endpoint.onlyServer();
  if (server === undefined) throw methodNotFound(exchange.method);
  return forward(exchange, core, { server, params: exchange.params });
};

export function passNotification(client: Client, method: string, params: ParsedParams): void {
  const server = client.endpoint.onlyServer();
  if (server !== undefined)
    void viewOf(client)
      .notify(server, method, params.value)
      .catch(() => undefined);
}
