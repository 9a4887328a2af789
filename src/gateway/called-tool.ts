import type { Parking, ParsedParams, TaskEntry, TaskProtocol } from "../index.ts";
import { isRecord } from "../lib/record.ts";
import { appTool, showsApps, unknownTool } from "./apps.ts";
import type { Core } from "./core.ts";
import type { Endpoint } from "./endpoint.ts";
import { viewOf } from "./exchange.ts";
import type { Answer, Exchange } from "./exchange.ts";
import { failedCall, invalidParams } from "./failure.ts";
import { forward } from "./forward.ts";
import type { SendOptions } from "./forward.ts";
import { completed, openState } from "./required-input.ts";
import { missingTasks, taskWish } from "./tasks/protocols.ts";
import { givenUp, handOut, parkingOf, pendingQuestion } from "./waiting-calls.ts";

/** A tool that a client calls. */
export interface CalledTool {
  server: string;
  /** How the client can be given a task; undefined if it must not get one. */
  wish: TaskProtocol | undefined;
  /** Makes the call for a request of the client. A task says itself how it waits for approval. */
  call(asked: Exchange, parking?: Parking): Promise<Answer>;
}

/**
 * Finds the tool that a `tools/call` means; there at once when its list is known. Throws if there is none, or the request
 * is not one.
 */
export function calledTool(exchange: Exchange, core: Core): CalledTool | Promise<CalledTool> {
  const { client, params } = exchange;
  const { name, arguments: args } = params.value;
  if (typeof name !== "string") throw invalidParams("`name` must be a string.");
  if (args !== undefined && !isRecord(args)) throw invalidParams("`arguments` must be an object.");
  const { endpoint, caller } = client;
  const known = endpoint.knownTool(name, caller, showsApps(client));
  if (known) return called(known, exchange, core);
  return findTool(name, exchange).then((found) => called(found, exchange, core));
}

async function findTool(name: string, { client, signal }: Exchange): Promise<Found> {
  const { endpoint, caller } = client;
  const found =
    (await endpoint.tool(name, caller, showsApps(client), signal)) ?? (await appTool(name, client));
  if (found === undefined) throw await unknownTool(name, client);
  return found;
}

type Found = Pick<NonNullable<ReturnType<Endpoint["knownTool"]>>, "id" | "server" | "for" | "requiresTask">;

function called(found: Found, exchange: Exchange, core: Core): CalledTool {
  const { client, params } = exchange;
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
    const failed = (error: unknown) => {
      const pending = pendingQuestion(error);
      if (pending && own) return core.tasks.pending(pending);
      if (pending) return handOut(pending, asked, server, state, core);
      const answer = failedCall(error);
      return isModern ? completed(answer, exchange.method) : answer;
    };
    const parking = own ?? parkingOf(asked, state?.approval, core);
    const ways = wish ? { onTask: (made: TaskEntry) => (task = made) } : { awaitTask: true };
    const send = (sent: ParsedParams, options: SendOptions) =>
      view.forwardCall(found.id, sent, { ...options, for: found.for, raw: true, parking, ...ways });
    const onAnswer = (answer: Answer) => task && core.tasks.made.set(answer, task);
    const go = () =>
      forward(asked, core, { server, params: sentParams(asked, state), send, failed, onAnswer });
    if (state?.approval === undefined) return go();
    return givenUp(state.approval, asked, core).then((refusal) => (refusal ? failed(refusal) : go()));
  };
  return { server, wish, call };
}

/** Whether there is a task, and what a client says about waiting, is between us and each side. */
function sentParams({ params }: Exchange, state: { approval?: string } | undefined): ParsedParams {
  const own = "task" in params.value ? params.with({ task: undefined }) : params;
  return state?.approval === undefined ? own : own.with({ inputResponses: undefined });
}
