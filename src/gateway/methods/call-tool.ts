import { isMetaName } from "../../index.ts";
import type { MetaName } from "../../host.ts";
import { showsApps, unknownTool, withApp } from "../apps.ts";
import { calledTool } from "../called-tool.ts";
import type { CalledTool } from "../called-tool.ts";
import type { Core, Method } from "../core.ts";
import type { Answer, Exchange } from "../exchange.ts";
import { callAsTask } from "../tasks/call-as-task.ts";
import { callMeta, failedInner } from "./meta-tool.ts";
import type { InnerCall } from "./meta-tool.ts";

export const callTool: Method = (exchange, core) => {
  const { name } = exchange.params.value;
  return typeof name === "string" && isMetaName(name)
    ? callMetaTool(name, exchange, core)
    : callDirect(exchange, core);
};

async function callMetaTool(name: MetaName, exchange: Exchange, core: Core): Promise<Answer> {
  const { client } = exchange;
  // A server may have a tool of the same name.
  if (!(await client.endpoint.isMeta(name, client))) return callDirect(exchange, core);
  const meant = await callMeta(exchange, name);
  return "exchange" in meant ? callInner(meant, core) : meant;
}

function callDirect(exchange: Exchange, core: Core): Promise<Answer> {
  const found = calledTool(exchange, core);
  // Most calls need not wait here.
  return found instanceof Promise
    ? found.then((called) => make(called, exchange, core))
    : make(found, exchange, core);
}

/** The call that a model made through `call_tool`: the same as a direct one, and every rule holds for it. */
async function callInner({ exchange, meta, tool }: InnerCall, core: Core): Promise<Answer> {
  const { client, signal } = exchange;
  const { endpoint } = client;
  const found = await endpoint.tool(endpoint.names.ofTool(tool), client, false, signal);
  if (!found) throw await unknownTool(tool.name, client);
  const called = await calledTool(exchange, core, {
    found,
    // The client's own approval sees only `call_tool`.
    approval: "auto",
    failed: (error) => failedInner(error, meta, tool),
    finish: async (answer) =>
      showsApps(client) ? withApp(answer, tool, await endpoint.uris(client)) : answer,
  });
  return make(called, exchange, core);
}

function make(called: CalledTool, exchange: Exchange, core: Core): Promise<Answer> {
  const { wish } = called;
  return wish ? callAsTask(exchange, core, { ...called, wish }) : called.call(exchange);
}
