import { isRecord } from "../../lib/record.ts";
import type { Method } from "../core.ts";
import { invalidParams } from "../failure.ts";
import { forward } from "../forward.ts";
import { ownerOf } from "../resource-owners.ts";

export const complete: Method = async (exchange, core) => {
  const { client, params } = exchange;
  const { ref } = params.value;
  if (!isRecord(ref)) throw invalidParams("`ref` is missing.");
  if (ref["type"] === "ref/prompt") {
    const prompt = await client.endpoint.prompt(String(ref["name"]), client, exchange.signal);
    if (!prompt) throw invalidParams(`There is no prompt ${JSON.stringify(ref["name"])}.`);
    const own = params.with({ ref: { ...ref, name: prompt.name } });
    return forward(exchange, core, { server: prompt.server, params: own });
  }
  if (ref["type"] !== "ref/resource" || typeof ref["uri"] !== "string")
    throw invalidParams("`ref` must be a prompt or a resource.");
  const owner = await ownerOf(ref["uri"], client, exchange.signal);
  return forward(exchange, core, {
    server: owner.server,
    params: params.with({ ref: { ...ref, uri: owner.uri } }),
  });
};
