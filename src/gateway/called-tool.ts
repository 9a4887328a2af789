import { isPlugboardError } from "../index.ts";
import type { JsonRpcAnswer, Parking, ParsedParams, TaskEntry, TaskProtocol } from "../host.ts";
import type { ForwardOptions } from "../index.ts";
import { isRecord } from "../lib/record.ts";
import { appTool, showsApps, unknownTool, withheldFromApp } from "./apps.ts";
import type { Core } from "./core.ts";
import type { FoundTool } from "./endpoint.ts";
import { viewOf } from "./exchange.ts";
import type { Answer, Exchange } from "./exchange.ts";
import { failedCall, invalidParams } from "./failure.ts";
import { forward } from "./forward.ts";
import type { SendOptions } from "./forward.ts";
import { failedInner } from "./methods/meta-tool.ts";
import { completed, openState } from "./required-input.ts";
import { missingTasks, taskWish } from "./tasks/protocols.ts";
import { givenUp, handOut, parkingOf, pendingQuestion } from "./waiting-calls.ts";

/** A tool that a client calls. */
export interface CalledTool extends Pick<Manner, "approval"> {
  server: string;
  /** How the client can be given a task; undefined if it must not get one. */
  wish: TaskProtocol | undefined;
  /** Makes the call for a request of the client. A task says itself how it waits for approval. */
  call(asked: Exchange, parking?: Parking): Promise<Answer>;
}

/** What is different about a call that a client makes through another tool. */
export interface Manner {
  /** The tool, where it is known already. */
  found?: Found;
  approval?: ForwardOptions["approval"];
  failed?(error: unknown): JsonRpcAnswer | Promise<JsonRpcAnswer>;
  finish?(answer: Answer): Promise<Answer>;
}

type Found = Omit<FoundTool, "headers">;

/**
 * Finds the tool that a `tools/call` means; there at once when its list is known. Throws if there is none, or the request
 * is not one.
 */
export function calledTool(
  exchange: Exchange,
  core: Core,
  manner: Manner = {},
): CalledTool | Promise<CalledTool> {
  const { client, params } = exchange;
  const { name, arguments: args } = params.value;
  if (typeof name !== "string") throw invalidParams("`name` must be a string.");
  if (args !== undefined && !isRecord(args)) throw invalidParams("`arguments` must be an object.");
  const { endpoint } = client;
  const known = manner.found ?? endpoint.knownTool(name, client, showsApps(client));
  if (known) return called(known, exchange, core, manner);
  return findTool(name, exchange).then((found) => called(found, exchange, core, manner));
}

async function findTool(name: string, { client, signal }: Exchange): Promise<Found> {
  const { endpoint } = client;
  const found =
    (await endpoint.tool(name, client, showsApps(client), signal)) ??
    (await appTool(name, client)) ??
    (await withheldTool(name, client));
  if (found === undefined) throw await unknownTool(name, client);
  return found;
}

/** Its call is refused with the reason, by the same rules as every other. */
async function withheldTool(name: string, client: Exchange["client"]): Promise<Found | undefined> {
  const withheld =
    (await client.endpoint.withheldTool(name, client)) ?? (await withheldFromApp(name, client));
  return withheld && { id: withheld.id, server: withheld.server };
}

function called(
  found: Found,
  exchange: Exchange,
  core: Core,
  { approval, failed = (error) => failedDirect(found, exchange, error), finish }: Manner,
): CalledTool {
  const { client, params, method } = exchange;
  const wish = taskWish(client, params.value);
  // Other clients wait; these can do what the tool asks for.
  if (found.requiresTask && !wish && client.era === "modern") throw missingTasks();
  const { server } = found;
  const view = viewOf(client);
  const call = (asked: Exchange, own?: Parking) => {
    const isModern = asked.client.era === "modern";
    let state: ReturnType<typeof openState>;
    try {
      state = isModern ? openState(asked, server, core) : undefined;
    } catch (error) {
      return Promise.reject(error);
    }
    let task: TaskEntry | undefined;
    const fail = async (error: unknown) => {
      const pending = pendingQuestion(error);
      if (pending && own) return core.tasks.pending(pending);
      if (pending) return handOut(pending, asked, server, state, core);
      const answer = await failed(error);
      return isModern ? completed(answer, method) : answer;
    };
    const parking = own ?? parkingOf(asked, state?.approval, core);
    const onTask = wish && ((made: TaskEntry) => (task = made));
    const send = (sent: ParsedParams, options: SendOptions) =>
      view.forwardCall(found.id, sent, {
        ...options,
        for: found.for,
        raw: true,
        approval,
        parking,
        onTask,
        awaitTask: !wish,
      });
    const onAnswer = (answer: Answer) => task && core.tasks.made.set(answer, task);
    const go = () => {
      const forwarded = { server, params: sentParams(asked, state), send, failed: fail, onAnswer };
      const answering = forward(asked, core, forwarded);
      if (!finish) return answering;
      return answering.then((answer) => (core.tasks.made.has(answer) ? answer : finish(answer)));
    };
    if (state?.approval === undefined) return go();
    return givenUp(state.approval, asked, core).then((refusal) => (refusal ? fail(refusal) : go()));
  };
  return { server, wish, call, approval };
}

/** Where tools are deferred, the client may not have the schema that the arguments do not fit. */
async function failedDirect(
  { id }: Pick<FoundTool, "id">,
  { client }: Exchange,
  error: unknown,
): Promise<JsonRpcAnswer> {
  const { endpoint } = client;
  if (!endpoint.isDeferred || !isPlugboardError(error, "arguments-invalid")) return failedCall(error);
  const tool = await viewOf(client)
    .findTool(id, { wait: false })
    .catch(() => undefined);
  return failedInner(error, await endpoint.metaTools(client), tool);
}

/** Whether there is a task, and what a client says about waiting, is between us and each side. */
function sentParams({ params }: Exchange, state: { approval?: string } | undefined): ParsedParams {
  const own = "task" in params.value ? params.with({ task: undefined }) : params;
  return state?.approval === undefined ? own : own.with({ inputResponses: undefined });
}
