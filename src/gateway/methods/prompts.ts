import type { Method } from "../core.ts";
import { invalidParams } from "../failure.ts";
import { forward } from "../forward.ts";

export const getPrompt: Method = async (exchange, core) => {
  const { client, params } = exchange;
  const { name } = params.value;
  const prompt =
    typeof name === "string" ? await client.endpoint.prompt(name, client, exchange.signal) : undefined;
  if (!prompt) throw invalidParams(`There is no prompt ${JSON.stringify(name)?.slice(0, 200)}.`);
  return forward(exchange, core, { server: prompt.server, params: params.with({ name: prompt.name }) });
};
