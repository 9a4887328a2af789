import { Failure, failed, methodNotFound } from "./failure.ts";
import { tracedPeer, viewOf } from "./exchange.ts";
import { isRecord } from "../lib/record.ts";
import type { Telemetry } from "../lib/telemetry.ts";
import type { Answer, Client, Dispatcher, Exchange } from "./exchange.ts";
import type { Core, Method } from "./core.ts";
import { callTool } from "./methods/call-tool.ts";
import { complete } from "./methods/completion.ts";
import { discover } from "./methods/discover.ts";
import { listOf } from "./methods/lists.ts";
import { listen } from "./methods/listen.ts";
import { setLevel } from "./methods/logging.ts";
import { passNotification, passRequest } from "./methods/pass.ts";
import { getPrompt } from "./methods/prompts.ts";
import { sandboxMethod, setSandboxState } from "./methods/sandbox-state.ts";
import { readResource, subscribe, unsubscribe } from "./methods/resources.ts";
import { cancelTask, getTask, listTasks, taskResult, updateTask } from "./methods/tasks.ts";

const both: Record<string, Method> = {
  "tools/list": listOf("tools"),
  "tools/call": callTool,
  "resources/list": listOf("resources"),
  "resources/templates/list": listOf("resourceTemplates"),
  "resources/read": readResource,
  "prompts/list": listOf("prompts"),
  "prompts/get": getPrompt,
  "completion/complete": complete,
  [sandboxMethod]: setSandboxState,
  "tasks/get": getTask,
  "tasks/cancel": cancelTask,
};

const legacy: Record<string, Method> = {
  ping: () => ({ result: {} }),
  "logging/setLevel": setLevel,
  "resources/subscribe": subscribe,
  "resources/unsubscribe": unsubscribe,
  "tasks/list": listTasks,
  "tasks/result": taskResult,
};

const modern: Record<string, Method> = {
  "server/discover": discover,
  "subscriptions/listen": listen,
  "tasks/update": updateTask,
};

/** Answers every method for both eras. */
export function createDispatcher(core: Core): Dispatcher {
  const { telemetry } = core;
  const answer = async (exchange: Exchange) => {
    try {
      return await methodOf(exchange)(exchange, core);
    } catch (error) {
      return failed(error);
    }
  };
  return {
    telemetry,
    answer: telemetry ? (exchange) => traced(exchange, telemetry, () => answer(exchange)) : answer,
    hear(client, method, params) {
      // Servers that asked before anybody was there ask again.
      if (method === "notifications/initialized") return void (hasRoots(client) && tellRoots(client));
      if (method === "notifications/roots/list_changed") tellRoots(client);
      else if (method === sandboxMethod) void viewOf(client).setSandboxState(params.value);
      else void passNotification(client, method, params);
    },
  };
}

function traced(
  { client, id, method, params }: Exchange,
  telemetry: Telemetry,
  answer: () => Promise<Answer>,
): Promise<Answer> {
  // What stays open by design has no duration worth knowing.
  if (method === "subscriptions/listen") return answer();
  return telemetry.served({ method, id, params: params.value, peer: tracedPeer(client) }, answer);
}

const hasRoots = ({ capabilities }: Client): boolean => isRecord(capabilities["roots"]);
const tellRoots = (client: Client): void => void viewOf(client).rootsChanged();

function methodOf({ method, client }: Exchange): Method {
  const own = client.era === "modern" ? modern : legacy;
  const other = client.era === "modern" ? legacy : modern;
  for (const table of [both, own]) if (Object.hasOwn(table, method)) return table[method] as Method;
  // A method of the other era means nothing here, whatever a server makes of it.
  if (method === "initialize" && client.era === "legacy")
    throw new Failure(-32_600, "This session is initialized already.");
  if (Object.hasOwn(other, method) || method === "initialize") throw methodNotFound(method);
  return passRequest;
}
