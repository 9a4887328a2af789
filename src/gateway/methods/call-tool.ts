import type { ParsedParams, TaskEntry } from "../../index.ts";
import { isRecord } from "../../lib/record.ts";
import { appTool, showsApps, unknownTool } from "../apps.ts";
import type { Method } from "../core.ts";
import { viewOf } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import { failedCall, invalidParams } from "../failure.ts";
import { forward } from "../forward.ts";
import type { SendOptions } from "../forward.ts";
import { completed } from "../required-input.ts";
import { callAsTask } from "../tasks/call-as-task.ts";
import { missingTasks, taskWish } from "../tasks/protocols.ts";

export const callTool: Method = async (exchange, core) => {
  const { client, params } = exchange;
  const { name, arguments: args } = params.value;
  if (typeof name !== "string") throw invalidParams("`name` must be a string.");
  if (args !== undefined && !isRecord(args)) throw invalidParams("`arguments` must be an object.");
  const { endpoint, caller } = client;
  const withApps = showsApps(client);
  // Most calls need not wait here.
  const found =
    endpoint.knownTool(name, caller, withApps) ??
    (await endpoint.tool(name, caller, withApps, exchange.signal)) ??
    (await appTool(name, client));
  if (found === undefined) throw await unknownTool(name, client);
  const wish = taskWish(client, params.value);
  // Other clients wait; these can do what the tool asks for.
  if (found.requiresTask && !wish && client.era === "modern") throw missingTasks();
  const { server } = found;
  const view = viewOf(client);
  const call = (asked: Exchange) => {
    let task: TaskEntry | undefined;
    const ways = wish ? { onTask: (made: TaskEntry) => (task = made) } : { awaitTask: true };
    const send = (own: ParsedParams, options: SendOptions) =>
      view.forwardCall(found.id, own, { ...options, for: found.for, raw: true, ...ways });
    const failed = (error: unknown) => {
      const answer = failedCall(error);
      return asked.client.era === "modern" ? completed(answer, exchange.method) : answer;
    };
    const onAnswer = (answer: Answer) => task && core.tasks.made.set(answer, task);
    // Whether there is a task is between us and each side.
    const own = "task" in asked.params.value ? asked.params.with({ task: undefined }) : asked.params;
    return forward(asked, core, { server, params: own, send, failed, onAnswer });
  };
  return wish ? callAsTask(exchange, core, { server, wish, call }) : call(exchange);
};
