import { modernRevision } from "../../index.ts";
import type { TaskEntry, TaskHandle, TaskProtocol } from "../../index.ts";
import { ParsedParams } from "../../index.ts";
import type { Core } from "../core.ts";
import { viewOf } from "../exchange.ts";
import type { Answer, Client, Exchange } from "../exchange.ts";
import { Failure, failedCall } from "../failure.ts";
import { withLinks } from "../links.ts";
import { onAborted } from "../open-exchange.ts";
import { completed, openState } from "../required-input.ts";
import { RunningTask } from "./running-task.ts";
import type { Continuation } from "./running-task.ts";

const usualTtlMs = 3_600_000;
const longestTtlMs = 86_400_000;
/** Clients that asked for a task wait this long for the server's own, which outlives this process. */
const legacyMs = 1_000;

/**
 * Answers a call of a client that can have tasks: with its result, with the server's task, or with a task of ours if it
 * takes long.
 */
export async function callAsTask(
  exchange: Exchange,
  core: Core,
  { server, wish, call }: { server: string; wish: TaskProtocol; call: (own: Exchange) => Promise<Answer> },
): Promise<Answer> {
  const { signal, client, params } = exchange;
  const { tasks } = core;
  const abort = new AbortController();
  const giveUp = () => abort.abort(signal.reason);
  if (signal.aborted) giveUp();
  signal.addEventListener("abort", giveUp, { once: true });
  const begin = (more?: Continuation) => call(ownExchange(exchange, abort.signal, more));
  const first = begin();
  const early = await soon(first, wish === "extension" ? tasks.afterMs : legacyMs);
  const made = early && tasks.made.get(early);
  if (early && wish === "extension") {
    if (!made) return early;
    if (made.protocol === "extension") return withOwnId(early, made);
  }
  if (!tasks.hasRoom(client.caller)) {
    if (wish === "extension" && !made) return first;
    abort.abort();
    if (made) await (await viewOf(client).task(made.id)).cancel();
    throw new Failure(-32_603, "There are too many tasks. Cancel some of them, or wait for their end.");
  }
  // From now on the call belongs to the task.
  signal.removeEventListener("abort", giveUp);
  const ttlMs = made ? ttlOf(made) : askedTtl(params);
  const task = new RunningTask({
    id: made?.id ?? tasks.newId(),
    caller: client.caller,
    server,
    ttlMs,
    abort,
  });
  tasks.add(task);
  let isServers = false;
  const followed = async (answering: Promise<Answer>): Promise<Answer> => {
    const answer = await answering;
    const its = tasks.made.get(answer);
    if (!its) return answer;
    isServers = true;
    return followServer(await viewOf(client).task(its.id), ownExchange(exchange, abort.signal), core);
  };
  task.follow(followed(first), (more) =>
    isServers ? resumeServer(exchange, abort.signal, more, core, server) : followed(begin(more)),
  );
  return { result: created(task, wish) };
}

/** Goes on with a task of a server that nobody follows in this process. */
export function resumeTask(handle: TaskHandle, exchange: Exchange, core: Core): RunningTask {
  const { id, server } = handle;
  const { caller } = exchange.client;
  const abort = new AbortController();
  const task = new RunningTask({ id, caller, server, ttlMs: ttlOf(handle), abort });
  core.tasks.hasRoom(caller);
  core.tasks.add(task);
  const { client, id: request } = exchange;
  const { signal } = abort;
  const bare = {
    client,
    id: request,
    method: "tools/call",
    params: noParams,
    signal,
    onCancelled: onAborted(signal),
    header: (name: string) => exchange.header(name),
    notify: () => undefined,
  };
  task.follow(followServer(handle, ownExchange(bare, signal), core), (more) =>
    resumeServer(bare, signal, more, core, server),
  );
  return task;
}

const noParams = ParsedParams.parse(Buffer.from("{}"));

/** Waits for a server's task. What it asks comes back as required input. */
function followServer(handle: TaskHandle, exchange: Exchange, core: Core): Promise<Answer> {
  const { capabilities } = exchange.client;
  const leave = core.tasks.leaving.signal;
  return core.parked.run(exchange, async ({ signal, onQuestion }) => {
    try {
      const answer = await handle.answer({ capabilities, leave, signal, onQuestion });
      return await withLinks(completed(answer, exchange.method), handle.server, exchange);
    } catch (error) {
      return completed(failedCall(error), exchange.method);
    }
  });
}

async function resumeServer(
  exchange: Exchange,
  signal: AbortSignal,
  more: Continuation,
  core: Core,
  server: string,
): Promise<Answer> {
  const own = ownExchange(exchange, signal, more);
  const parked = openState(own, server, core)?.parked;
  if (parked === undefined) throw new Failure(-32_603, "The task cannot go on.");
  return core.parked.resume(parked, own);
}

/** The request of a task: its client can be asked by input that it requires, whichever era it is of. */
function ownExchange(exchange: Exchange, signal: AbortSignal, more?: Continuation): Exchange {
  const { client, id, method } = exchange;
  const params = more ? exchange.params.with({ ...more }) : exchange.params;
  const teller = client.session ?? exchange;
  return {
    client: asModern(client),
    id,
    method,
    params,
    signal,
    onCancelled: onAborted(signal),
    header: (name) => exchange.header(name),
    notify: (...said) => teller.notify(...said),
  };
}

function asModern(client: Client): Client {
  if (client.era === "modern") return client;
  const { caller, endpoint, capabilities, info, logLevel } = client;
  return { era: "modern", revision: modernRevision, caller, endpoint, capabilities, info, logLevel };
}

function created(task: RunningTask, wish: TaskProtocol): Record<string, unknown> {
  const shown = { ...task.describe(wish), status: "working" };
  return wish === "extension" ? { resultType: "task", ...shown } : { task: shown };
}

/** A task of the server, under our id. */
function withOwnId(answer: Answer, { id }: TaskEntry): Answer {
  if ("error" in answer) return answer;
  const { result } = answer;
  const value = Buffer.isBuffer(result) ? (JSON.parse(result.toString("utf8")) as object) : result;
  return { result: { ...value, taskId: id } };
}

function ttlOf({ expiresAt }: Pick<TaskEntry, "expiresAt">): number {
  return Math.min(Math.max(expiresAt - Date.now(), 1_000), longestTtlMs);
}

/** Clients of 2025-11-25 may say how long they want to have it. */
function askedTtl({ value: { task } }: ParsedParams): number {
  const ttl = typeof task === "object" && task !== null && "ttl" in task ? task.ttl : undefined;
  return typeof ttl === "number" && ttl > 0 ? Math.min(Math.max(ttl, 1_000), longestTtlMs) : usualTtlMs;
}

/** What comes within a time; undefined if it takes longer. */
async function soon<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(() => resolve(undefined), ms)));
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
