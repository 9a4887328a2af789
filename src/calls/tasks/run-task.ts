import { PlugboardError, isPlugboardError } from "../../errors.ts";
import { isRecord } from "../../lib/record.ts";
import type { ConnectionKey } from "../../servers/connection-key.ts";
import type { JsonRpcAnswer, RawAnswer } from "../../servers/rpc/messages.ts";
import type { ToolEntry } from "../../catalog/tool-entry.ts";
import type { ServerConfig } from "../../config/server-schema.ts";
import type { TargetIdentity } from "../../servers/target-identity.ts";
import type { InputContext } from "../call-inputs.ts";
import type { CallContext, SendOptions, ServerRequestOptions } from "../send.ts";
import { followTask } from "./follow.ts";
import type { FollowedTask } from "./follow.ts";
import type { TaskRecord } from "./records.ts";
import { createdTask, isOver } from "./task.ts";
import type { TaskState, TaskProtocol } from "./task.ts";

/** What following a task needs of a view. */
export type TaskContext = Pick<
  CallContext,
  "scope" | "tasks" | "taskRoute" | "request" | "markOf" | "boundTarget"
> &
  Pick<InputContext, "answer">;

export interface NewTask {
  protocol: TaskProtocol;
  state: TaskState;
}

/**
 * Whether a call may become a task. A legacy tool does where it has to. Where each call has a connection of its own, a
 * task would be gone with it.
 */
export function taskOf({ raw }: ToolEntry, { isolation }: ServerConfig): "accepted" | "required" | undefined {
  if (isolation === "call") return undefined;
  return taskSupport(raw) === "required" ? "required" : "accepted";
}

/** What a legacy server says about calling a tool as a task. */
export function taskSupport({ execution }: Record<string, unknown>): unknown {
  return isRecord(execution) ? execution["taskSupport"] : undefined;
}

/** The task that a server made of a call, if it did. */
export function taskIn(
  answer: JsonRpcAnswer | RawAnswer,
  isModern: boolean,
  server: string,
): NewTask | undefined {
  const protocol = isModern ? "extension" : "2025-11-25";
  if ("error" in answer) return undefined;
  const result = "bytes" in answer ? (JSON.parse(answer.bytes.toString("utf8")) as unknown) : answer.result;
  const state = isRecord(result) ? createdTask(result, protocol) : undefined;
  if (state) return { protocol, state };
  if (!isModern || !isRecord(result) || result["resultType"] !== "task") return undefined;
  throw new PlugboardError("protocol-error", `"${server}" sent an invalid task.`, { server });
}

/** Remembers a task, so that somebody can go on with it after a restart. Undefined if nothing can be stored. */
export async function keepTask(
  { state, protocol }: NewTask,
  { server, id, name }: ToolEntry,
  key: ConnectionKey,
  target: TargetIdentity | undefined,
  { scope, tasks, markOf }: TaskContext,
): Promise<TaskRecord | undefined> {
  const { account, caller } = key;
  const shared = caller === undefined;
  if (!target) return undefined;
  try {
    const from = await markOf(target);
    const about = {
      server,
      tool: id,
      name,
      protocol,
      shared,
      from,
      ...(account !== undefined && { account }),
    };
    return await tasks.add(scope.use.caller, state, about);
  } catch (error) {
    if (isPlugboardError(error, "store-unavailable")) return undefined;
    throw error;
  }
}

/** A task that could not be remembered. */
export function newTask(
  { state, protocol }: NewTask,
  { server, name }: ToolEntry,
  key: ConnectionKey,
  target: TargetIdentity | undefined,
): TaskPlace {
  return { server, name, protocol, taskId: state.taskId, shared: key.caller === undefined, onlyAt: target };
}

/** Where a task is. */
type TaskPlace = Pick<TaskRecord, "server" | "name" | "protocol" | "taskId" | "shared"> & TaskOrigin;

/** What has the task: as it is written down, or as it is known. */
type TaskOrigin =
  | { from: string; onlyAt?: undefined }
  | { from?: undefined; onlyAt: TargetIdentity | undefined };

/** What is the same for a task that has just been made and for one of an earlier process. */
export type RunOptions = Pick<
  ServerRequestOptions,
  "onProgress" | "onQuestion" | "capabilities" | "timeoutMs" | "maxTimeoutMs" | "call" | "trace"
> &
  Pick<SendOptions, "signal"> & { leave?: AbortSignal | undefined };

/** Waits in the place of whoever called until the task is over. */
export async function runTask(
  about: TaskPlace,
  record: TaskRecord | undefined,
  first: TaskState | undefined,
  options: RunOptions,
  context: TaskContext,
): Promise<JsonRpcAnswer> {
  const { server, name, protocol, taskId } = about;
  const { trace, call, onQuestion } = options;
  const { caller } = context.scope.use;
  const route = context.taskRoute(about);
  const { config } = route;
  const stop = new AbortController();
  const outer = trace?.cancel;
  if (trace) trace.cancel = (reason) => stop.abort(reason);
  if (trace?.cancelled) stop.abort(trace.cancelled);
  const { leave } = options;
  const signals = [stop.signal, options.signal, leave].filter((one) => one !== undefined);
  const signal = AbortSignal.any(signals);
  const request = taskRequest(about, options, context);
  const followed: FollowedTask = {
    server,
    tool: name,
    taskId,
    protocol,
    request,
    answer: (method, params) => context.answer(route, { method, params, signal }, { call, onQuestion }),
    signal,
    isLeft: () => leave?.aborted === true,
    silenceMs: options.timeoutMs ?? config.callTimeoutMs ?? silenceMs,
    maxMs: options.maxTimeoutMs ?? config.maxCallTimeoutMs,
    answered: new Set(record?.answered),
    onState: reporter(options, record, context),
    async onAnswered() {
      if (!record) return;
      record.answered = [...followed.answered];
      await saveQuietly(context, record);
    },
    async onEnd() {
      if (record) await context.tasks.remove(caller, record).catch(() => undefined);
    },
  };
  const release = route.hold();
  try {
    return await followTask(followed, first);
  } finally {
    release();
    if (trace) trace.cancel = outer;
  }
}

/** Sends requests about a task over the connection of its view. */
export function taskRequest(
  { server, shared, from, onlyAt }: Pick<TaskPlace, "server" | "shared" | "from" | "onlyAt">,
  { onQuestion, capabilities, call }: Pick<RunOptions, "onQuestion" | "capabilities" | "call">,
  context: Pick<TaskContext, "request" | "taskRoute" | "boundTarget">,
): FollowedTask["request"] {
  return async (method, params, options) => {
    const route = context.taskRoute({ server, shared });
    const target = from === undefined ? onlyAt : await context.boundTarget(from, route, options.signal);
    const own = { onQuestion, capabilities, call, task: "accepted" as const, onlyAt: target };
    return (await context.request(route, method, params, { ...own, ...options })) as JsonRpcAnswer;
  };
}

const silenceMs = 60_000;

/** Tells of each new status or message, as progress. */
function reporter({ onProgress }: RunOptions, record: TaskRecord | undefined, context: TaskContext) {
  let told = "";
  let progress = 0;
  return ({ status, statusMessage }: TaskState): void => {
    if (record && record.status !== status && !isOver({ status })) {
      record.status = status;
      void saveQuietly(context, record);
    }
    const message = statusMessage ?? words[status];
    if (message === told) return;
    told = message;
    progress++;
    onProgress?.({ progress, message, params: { progress, message } });
  };
}

const words: Record<TaskState["status"], string> = {
  working: "working",
  input_required: "waiting for input",
  completed: "completed",
  failed: "failed",
  cancelled: "cancelled",
};

/** What is remembered helps after a restart; a call that runs well does not fail for it. */
async function saveQuietly({ tasks, scope }: TaskContext, record: TaskRecord): Promise<void> {
  await tasks.save(scope.use.caller, record).catch(() => undefined);
}
