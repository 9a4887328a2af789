import { setTimeout as sleep } from "node:timers/promises";
import { PlugboardError, errorTable, isPlugboardError } from "../../errors.ts";
import { isRecord } from "../../lib/record.ts";
import type { JsonRpcAnswer } from "../../servers/rpc/messages.ts";
import { answered } from "../input-required.ts";
import type { AnswerInput } from "../input-required.ts";
import type { ServerRequestOptions } from "../send.ts";
import { isOver, readTask } from "./task.ts";
import type { TaskProtocol, TaskState } from "./task.ts";

/** A task on its way, and who waits for it. */
export interface FollowedTask {
  server: string;
  /** The server's name of the tool, for messages. */
  tool: string;
  taskId: string;
  protocol: TaskProtocol;
  request(
    method: string,
    params: Record<string, unknown>,
    options: ServerRequestOptions,
  ): Promise<JsonRpcAnswer>;
  answer: AnswerInput;
  /** Aborted when nobody waits for the result any more. */
  signal: AbortSignal;
  /** True if somebody may go on waiting later. */
  isLeft(): boolean;
  /** How long polls may fail in a row before the server counts as silent. */
  silenceMs: number;
  /** How long it may take at all, without the time that people think; undefined if there is no limit. */
  maxMs: number | undefined;
  /** The keys of inputs that were sent. Each is asked for once. */
  answered: Set<string>;
  onState(state: TaskState): void;
  /** Another input is about to be sent. */
  onAnswered(): Promise<void>;
  /** There is nothing left to go on with later. */
  onEnd(): Promise<void>;
}

/** A server decides how often it is polled, within these bounds. */
const pace = { least: 100, usual: 1_000, most: 60_000 };
/** No honest task asks for more. */
const mostInputs = 100;
const cancelMs = 5_000;

/**
 * Waits for the end of a task and returns what the call came to: polls at the server's pace, and answers what it asks.
 * Polling stands still while somebody is asked. Throws when the server cancelled or forgot it, or could not be reached;
 * only in the last case somebody can go on later.
 */
export async function followTask(task: FollowedTask, first?: TaskState): Promise<JsonRpcAnswer> {
  const clock = new Clock(task);
  try {
    const final = await untilOver(task, clock, first);
    await task.onEnd();
    return final;
  } catch (error) {
    if (task.isLeft()) throw error;
    const isUnwanted =
      task.signal.aborted || clock.leftMs <= 0 || unanswerable.some((code) => isPlugboardError(error, code));
    if (isUnwanted) await cancelTask(task);
    if (isUnwanted || isPlugboardError(error, "server-error")) await task.onEnd();
    throw error;
  }
}

/** The call cannot go on, because nobody can answer what the server asks. */
const unanswerable = ["question-declined", "usage-invalid", "protocol-error"] as const;

async function untilOver(
  task: FollowedTask,
  clock: Clock,
  first: TaskState | undefined,
): Promise<JsonRpcAnswer> {
  // A new task says no more than its status.
  let state = first?.status === "working" ? first : await poll(task, clock);
  for (;;) {
    task.onState(state);
    if (isOver(state)) return outcomeOf(task, state, clock);
    if (state.status === "input_required") {
      const final = await provideInput(task, state, clock);
      if (final) return final;
    }
    await clock.pause(intervalOf(state));
    state = await poll(task, clock);
  }
}

/** Tells the server that nobody waits any more. It need not obey, so failures do not matter. */
export async function cancelTask(task: Pick<FollowedTask, "taskId" | "request">): Promise<void> {
  const { taskId } = task;
  const limits = { timeoutMs: cancelMs, maxTimeoutMs: cancelMs };
  await task.request("tasks/cancel", { taskId }, limits).catch(() => undefined);
}

/** Counts the time that a task takes, without the time that people think. */
class Clock {
  readonly #task: FollowedTask;
  #countedMs = 0;

  constructor(task: FollowedTask) {
    this.#task = task;
  }

  get leftMs(): number {
    return (this.#task.maxMs ?? Infinity) - this.#countedMs;
  }

  add(ms: number): void {
    this.#countedMs += ms;
  }

  /** Counts what the work takes. */
  async count<T>(work: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    try {
      return await work();
    } finally {
      this.add(performance.now() - startedAt);
    }
  }

  async pause(ms: number): Promise<void> {
    const { signal } = this.#task;
    this.assertTime();
    await this.count(() => sleep(Math.min(ms, this.leftMs), undefined, { signal }).catch(() => undefined));
    if (signal.aborted) throw givenUp(this.#task);
    this.assertTime();
  }

  assertTime(): void {
    const { server, tool, maxMs } = this.#task;
    if (this.leftMs > 0) return;
    throw new PlugboardError(
      "call-timeout",
      `"${server}" did not finish the task of ${tool} within the longest time allowed (${maxMs} ms).`,
      { server, data: { maxTimeoutMs: maxMs } },
    );
  }

  /** The deadlines of one request. */
  limits(): ServerRequestOptions {
    const { signal, silenceMs } = this.#task;
    return { signal, timeoutMs: silenceMs, maxTimeoutMs: Math.max(1, Math.min(this.leftMs, silenceMs)) };
  }
}

/** Asks how the task is. */
async function poll(task: FollowedTask, clock: Clock): Promise<TaskState> {
  const answer = await insist(task, clock, "tasks/get", { taskId: task.taskId }, mayPass);
  return stateIn(task, answer);
}

/** Reads the answer to `tasks/get`. */
export function stateIn(
  task: Pick<FollowedTask, "server" | "tool" | "taskId" | "protocol">,
  answer: JsonRpcAnswer,
): TaskState {
  const { server, tool, taskId, protocol } = task;
  if ("error" in answer)
    throw mayPass(answer)
      ? refused(task, `does not say how the task of ${tool} is`, answer)
      : forgotten(task, answer);
  const state = readTask(answer.result, protocol);
  if (state?.taskId === taskId) return state;
  throw new PlugboardError("protocol-error", `"${server}" sent an invalid state of a task.`, { server });
}

/** Sends a request, and again after trouble that may pass, for as long as silence is allowed. */
async function insist(
  task: FollowedTask,
  clock: Clock,
  method: string,
  params: Record<string, unknown>,
  isTrouble: (answer: JsonRpcAnswer) => boolean,
): Promise<JsonRpcAnswer> {
  const startedAt = performance.now();
  const isSilent = () => performance.now() - startedAt >= task.silenceMs;
  for (;;) {
    clock.assertTime();
    try {
      const answer = await clock.count(() => task.request(method, params, clock.limits()));
      if (!isTrouble(answer) || isSilent()) return answer;
    } catch (error) {
      if (task.signal.aborted) throw givenUp(task);
      if (!isPassingTrouble(error) || isSilent()) throw error;
    }
    await clock.pause(pace.usual);
  }
}

/** A server in trouble, unlike one that does not know the task or any tasks. */
function mayPass(answer: JsonRpcAnswer): boolean {
  return "error" in answer && ![-32_602, -32_601, -32_021].includes(answer.error.code);
}

function isPassingTrouble(error: unknown): boolean {
  return isPlugboardError(error) && errorTable[error.code].passes && error.reason !== "closed";
}

/** What a call that is over came to. A legacy server has to be asked for it. */
async function outcomeOf(task: FollowedTask, state: TaskState, clock: Clock): Promise<JsonRpcAnswer> {
  const { server, tool, protocol, taskId } = task;
  if (state.status === "cancelled") throw cancelledThere(task, state);
  if (protocol === "2025-11-25")
    return plain(await insist(task, clock, "tasks/result", { taskId }, () => false));
  if (state.error) return { error: state.error };
  if (state.result) return { result: { resultType: "complete", ...state.result } };
  const message = `"${server}" completed the task of ${tool} without a result.`;
  throw new PlugboardError("protocol-error", message, { server });
}

/**
 * Gets people to answer what a task asks. A legacy server asks by itself during a request for the result, whose answer
 * is the end of the task; undefined if it goes on.
 */
async function provideInput(
  task: FollowedTask,
  state: TaskState,
  clock: Clock,
): Promise<JsonRpcAnswer | undefined> {
  const { taskId, protocol, silenceMs } = task;
  if (protocol === "extension") {
    await sendInputs(task, state.inputRequests ?? {}, clock);
    return undefined;
  }
  const startedAt = performance.now();
  try {
    const limits = { ...clock.limits(), maxTimeoutMs: Infinity, waitsForTask: taskId };
    return plain(await task.request("tasks/result", { taskId }, limits));
  } catch (error) {
    if (task.signal.aborted) throw givenUp(task);
    if (!isPassingTrouble(error)) throw error;
    // Somebody may have answered meanwhile, and the server goes on working: its state tells.
    clock.add(Math.min(performance.now() - startedAt, silenceMs));
    return undefined;
  }
}

/** A result as the call itself would have had it: without the server's id of the task. */
function plain(answer: JsonRpcAnswer): JsonRpcAnswer {
  if ("error" in answer || !isRecord(answer.result["_meta"])) return answer;
  const { [relatedTask]: _task, ...meta } = answer.result["_meta"];
  const { _meta, ...result } = answer.result;
  return { result: Object.keys(meta).length === 0 ? result : { ...result, _meta: meta } };
}

const relatedTask = "io.modelcontextprotocol/related-task";

async function sendInputs(task: FollowedTask, asked: Record<string, unknown>, clock: Clock): Promise<void> {
  const { server, taskId } = task;
  const open = Object.entries(asked).filter(([key]) => !task.answered.has(key));
  if (open.length === 0) return;
  if (task.answered.size + open.length > mostInputs) {
    const message = `"${server}" asks for more than ${mostInputs} inputs in one task.`;
    throw new PlugboardError("protocol-error", message, { server });
  }
  for (const [key, request] of open) {
    if (!isRecord(request) || typeof request["method"] !== "string") {
      const message = `"${server}" asked for input without a request method.`;
      throw new PlugboardError("protocol-error", message, { server });
    }
    const params = isRecord(request["params"]) ? request["params"] : {};
    const value = await answered(request["method"], params, task);
    if (task.signal.aborted) throw givenUp(task);
    task.answered.add(key);
    await task.onAnswered();
    const inputResponses = Object.fromEntries([[key, value]]);
    const answer = await insist(task, clock, "tasks/update", { taskId, inputResponses }, mayPass);
    if ("error" in answer) throw refused(task, `refused the input for the task of ${task.tool}`, answer);
  }
}

function intervalOf({ pollIntervalMs = pace.usual }: TaskState): number {
  return Math.min(Math.max(pollIntervalMs, pace.least), pace.most);
}

type Refused = Extract<JsonRpcAnswer, { error: object }>;

function forgotten(
  { server, tool }: Pick<FollowedTask, "server" | "tool">,
  { error }: Refused,
): PlugboardError {
  return new PlugboardError(
    "server-error",
    `"${server}" no longer knows the task of ${tool}: ${error.message} (${error.code}).`,
    {
      server,
      executed: "maybe",
      data: { rpcCode: error.code, task: "forgotten" },
      advice:
        "It was kept for a limited time, or the server was restarted. Check what was done before calling the tool again.",
    },
  );
}

function cancelledThere({ server, tool }: FollowedTask, { statusMessage }: TaskState): PlugboardError {
  const because = statusMessage === undefined ? "" : `: ${statusMessage}`;
  return new PlugboardError("server-error", `"${server}" cancelled the task of ${tool}${because}.`, {
    server,
    executed: "maybe",
    data: { task: "cancelled" },
  });
}

function refused({ server }: Pick<FollowedTask, "server">, what: string, { error }: Refused): PlugboardError {
  const message = `"${server}" ${what}: ${error.message} (${error.code}).`;
  return new PlugboardError("server-error", message, {
    server,
    executed: "maybe",
    data: { rpcCode: error.code },
  });
}

function givenUp({ server, tool, signal }: FollowedTask): PlugboardError {
  return new PlugboardError("call-cancelled", `The task of ${tool} on "${server}" was cancelled.`, {
    server,
    cause: signal.reason,
  });
}
