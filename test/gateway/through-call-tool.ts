import type { Fields, RequestOptions, TestClient } from "./clients/client.ts";

/** Makes every call of a client one through `call_tool`. */
export function throughCallTool<T extends TestClient>(client: T): T {
  const once = client.once.bind(client);
  client.once = (method: string, params: Fields = {}, options: RequestOptions = {}) => {
    if (method !== "tools/call") return once(method, params, options);
    const { name, arguments: args, ...rest } = params;
    const inner = { name, ...(args !== undefined && { arguments: args }) };
    const { rawParams } = options;
    const raw = rawParams?.replace(
      /^\{("name":"[^"]+","arguments":\{.*\}),"unknown"/s,
      '{"name":"call_tool","arguments":{$1},"unknown"',
    );
    return once(
      method,
      { ...rest, name: "call_tool", arguments: inner },
      { ...options, ...(raw !== undefined && { rawParams: raw }) },
    );
  };
  return client;
}
