import { ParsedParams } from "../../host.ts";
import type { Parking, TaskEntry, TaskProtocol } from "../../host.ts";
import type { TaskHandle } from "../../index.ts";
import type { CalledTool } from "../called-tool.ts";
import type { Core } from "../core.ts";
import { viewOf } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import { onAborted } from "../open-exchange.ts";
import { tooManyTasks } from "./protocols.ts";
import { followCall, followServer, resumeServer } from "./follow-call.ts";
import { ownExchange } from "./own-exchange.ts";
import { RunningTask } from "./running-task.ts";
import { valueOf } from "../result.ts";
import type { Continuation } from "./running-task.ts";
import { taskParking, waitingTtl } from "./waiting-task.ts";

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
  { server, wish, call, approval }: CalledTool & { wish: TaskProtocol },
): Promise<Answer> {
  const { signal, client, params } = exchange;
  const { tasks } = core;
  const abort = new AbortController();
  const giveUp = () => abort.abort(signal.reason);
  if (signal.aborted) giveUp();
  signal.addEventListener("abort", giveUp, { once: true });
  const begin = (more: Continuation | undefined, parking: Parking) =>
    call(ownExchange(exchange, abort.signal, more), parking);
  let own: string | undefined;
  const id = () => (own ??= tasks.newId());
  const first = begin(undefined, taskParking(id, exchange, approval));
  const early = await soon(first, wish === "extension" ? tasks.afterMs : legacyMs);
  const made = early && tasks.made.get(early);
  const pending = early && tasks.pendingIn(early);
  if (early && wish === "extension" && !pending) {
    if (!made) return early;
    if (made.protocol === "extension") return withOwnId(early, made);
  }
  const ttlMs = made ? ttlOf(made) : pending && wish === "extension" ? waitingTtl(pending) : askedTtl(params);
  const task = new RunningTask({ id: made?.id ?? id(), caller: client.caller, server, ttlMs, abort });
  if (!tasks.add(task, params.heldBytes)) {
    if (wish === "extension" && !made && !pending) return first;
    abort.abort();
    if (pending) await core.hub.approvals.withdraw(pending.id);
    if (made) await (await viewOf(client).task(made.id)).cancel();
    throw tooManyTasks();
  }
  // From now on the call belongs to the task.
  signal.removeEventListener("abort", giveUp);
  followCall({ task, exchange, signal: abort.signal, first, begin }, core);
  return { result: created(task, wish) };
}

/** Goes on with a task of a server that nobody follows in this process. */
export function resumeTask(handle: TaskHandle, exchange: Exchange, core: Core): RunningTask {
  const { id, server } = handle;
  const { caller } = exchange.client;
  const abort = new AbortController();
  const task = new RunningTask({ id, caller, server, ttlMs: ttlOf(handle), abort });
  if (!core.tasks.add(task)) throw tooManyTasks();
  const { client, id: request } = exchange;
  const { signal } = abort;
  const bare = {
    client,
    id: request,
    method: "tools/call",
    params: noParams,
    signal,
    onCancelled: onAborted(signal),
    notify: () => undefined,
  };
  task.follow(followServer(handle, ownExchange(bare, signal), core), (more) =>
    resumeServer(bare, signal, more, core, server),
  );
  return task;
}

const noParams = ParsedParams.parse(Buffer.from("{}"));

function created(task: RunningTask, wish: TaskProtocol): Record<string, unknown> {
  const shown = { ...task.describe(wish), status: "working" };
  return wish === "extension" ? { resultType: "task", ...shown } : { task: shown };
}

/** A task of the server, under our id. */
function withOwnId(answer: Answer, { id }: TaskEntry): Answer {
  if ("error" in answer) return answer;
  return { result: { ...valueOf(answer), taskId: id } };
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
