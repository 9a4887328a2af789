import { isPlugboardError } from "../../index.ts";
import type { TaskProtocol } from "../../host.ts";
import type { TaskHandle } from "../../index.ts";
import type { JsonEdits } from "../../lib/json-edit.ts";
import { isRecord } from "../../lib/record.ts";
import type { Core, Method } from "../core.ts";
import { viewOf } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import { invalidParams, methodNotFound } from "../failure.ts";
import { withLinks } from "../links.ts";
import { askClient } from "../questions.ts";
import { assertAnswersFit, assertInputsDeclared, sortInputs } from "../required-input.ts";
import { resumeTask } from "../tasks/call-as-task.ts";
import {
  declaresTasks,
  describeTask,
  hasLegacyTasks,
  missingTasks,
  relatedTask,
} from "../tasks/protocols.ts";
import { editedResult, rawResult, resultChunks, valueOf } from "../result.ts";
import type { Result } from "../result.ts";
import { RunningTask } from "../tasks/running-task.ts";
import { isWaitingId, resumeWaiting } from "../tasks/waiting-task.ts";
import { stringifyExact } from "../../lib/exact-json.ts";

export const getTask: Method = async (exchange, core) => {
  const protocol = assertTasks(exchange);
  const task = await findTask(exchange, core);
  if (task instanceof RunningTask)
    return protocol === "extension" ? detailed(task, exchange) : { result: task.describe(protocol) };
  const answer = await task.request("tasks/get", {}, optionsOf(exchange));
  if ("error" in answer) return answer;
  const { result } = answer;
  const { asked, answered } = sortInputs(result["inputRequests"], task.server, exchange.client);
  const shown: Record<string, unknown> = { ...result, resultType: "complete", taskId: task.id };
  if (answered) {
    const told = await task.request("tasks/update", { inputResponses: answered }, optionsOf(exchange));
    if ("error" in told) return told;
    if (asked) return { result: { ...shown, inputRequests: asked } };
    const { inputRequests: _answered, ...rest } = shown;
    return { result: { ...rest, status: "working" } };
  }
  if (!isRecord(result["result"])) return { result: shown };
  const { client } = exchange;
  const linked = await withLinks({ result: result["result"] }, task.server, { client, method: "tools/call" });
  return "error" in linked ? linked : withResult(shown, linked);
};

export const updateTask: Method = async (exchange, core) => {
  assertTasks(exchange);
  const { inputResponses } = exchange.params.value;
  if (!isRecord(inputResponses)) throw invalidParams("`inputResponses` must be an object.");
  const task = await findTask(exchange, core);
  if (task instanceof RunningTask) {
    assertAnswersFit(task.inputRequests, inputResponses);
    task.update(inputResponses);
  } else {
    // The server knows which forms it waits for; nothing is remembered here.
    const now = await task.request("tasks/get", {}, optionsOf(exchange));
    if ("error" in now) return now;
    const { inputRequests } = now.result;
    if (isRecord(inputRequests)) assertAnswersFit(inputRequests, inputResponses);
    const answer = await task.request("tasks/update", { inputResponses }, optionsOf(exchange));
    if ("error" in answer) return answer;
  }
  return acknowledged;
};

export const cancelTask: Method = async (exchange, core) => {
  const protocol = assertTasks(exchange);
  const task = await findTask(exchange, core);
  if (!(task instanceof RunningTask)) {
    const answer = await task.request("tasks/cancel", {}, optionsOf(exchange));
    return "error" in answer ? answer : acknowledged;
  }
  const isOver = task.status !== "working" && task.status !== "input_required";
  if (isOver && protocol === "2025-11-25") throw invalidParams(`The task is ${task.status} already.`);
  task.cancel();
  return protocol === "extension" ? acknowledged : { result: task.describe(protocol) };
};

/** Of 2025-11-25: waits for the end, and asks the client what the server wants to know meanwhile. */
export const taskResult: Method = async (exchange, core) => {
  assertTasks(exchange);
  const task = await findTask(exchange, core);
  // Legacy clients have their tasks in this process.
  if (!(task instanceof RunningTask)) throw unknownTask();
  const meta = { [relatedTask]: { taskId: task.id } };
  const ask = askClient(exchange);
  while (!task.outcome && task.status !== "cancelled") {
    const [asked] = Object.entries(task.inputRequests);
    if (asked) await askFor(asked, task, meta, ask, exchange);
    else await task.change(exchange.signal);
  }
  if (!task.outcome) return { error: { code: -32_000, message: "The task was cancelled." } };
  return related(task.outcome, meta);
};

/** Of 2025-11-25: all tasks of this caller that are known here, or were left by an earlier process. */
export const listTasks: Method = async (exchange, core) => {
  assertTasks(exchange);
  if (exchange.params.value["cursor"] !== undefined) throw invalidParams("The cursor is not valid.");
  const { client } = exchange;
  const running = core.tasks.list(client);
  const left = (await viewOf(client).tasks()).filter(({ id }) => !running.some((task) => task.id === id));
  const shown = [...left, ...(await waitingTasks(exchange, core, running))].map(
    ({ id, status, createdAt, expiresAt }) =>
      describeTask(
        { id, status, createdAt, updatedAt: createdAt, ttlMs: expiresAt - createdAt },
        "2025-11-25",
      ),
  );
  return { result: { tasks: [...shown, ...running.map((task) => task.describe("2025-11-25"))] } };
};

/** Those whose calls waited for approval when an earlier process ended. */
async function waitingTasks({ client }: Exchange, { hub }: Core, running: readonly RunningTask[]) {
  if (!hub.config.settings.approvals?.queue) return [];
  const waiting = (await hub.approvals.waiting()).filter(
    ({ id, caller, server }) =>
      isWaitingId(id) &&
      caller === client.caller &&
      client.endpoint.servers().has(server) &&
      !running.some((task) => task.id === id),
  );
  return waiting.map((question) => ({ ...question, status: "working" as const }));
}

const acknowledged: Answer = { result: { resultType: "complete" } };

/** Throws for a client that has no tasks. */
function assertTasks({ client, method }: Exchange): TaskProtocol {
  if (client.era === "modern") {
    if (!declaresTasks(client)) throw missingTasks();
    return "extension";
  }
  if (!hasLegacyTasks(client)) throw methodNotFound(method);
  return "2025-11-25";
}

/**
 * The task that a request means: one that goes on in this process, or one of a server that is passed through. A task of
 * another protocol than the client's that an earlier process left is followed from now on.
 */
async function findTask(exchange: Exchange, core: Core): Promise<RunningTask | TaskHandle> {
  const { client } = exchange;
  const { taskId } = exchange.params.value;
  if (typeof taskId !== "string") throw invalidParams("`taskId` must be a string.");
  const running = core.tasks.get(taskId, client);
  if (running) return running;
  const waiting = await resumeWaiting(taskId, exchange, core);
  if (waiting) return waiting;
  const handle = await viewOf(client)
    .task(taskId)
    .catch((error: unknown) => {
      throw isPlugboardError(error, "usage-invalid") ? unknownTask() : error;
    });
  if (client.era === "modern" && handle.protocol === "extension") return handle;
  return core.tasks.get(taskId, client) ?? resumeTask(handle, exchange, core);
}

const unknownTask = () => invalidParams("There is no such task.");

function optionsOf({ client, signal }: Exchange) {
  return { signal, capabilities: client.capabilities };
}

/** The state of a task with what belongs to it. A result keeps its bytes. */
function detailed(task: RunningTask, { client }: Exchange): Answer {
  const shown = { resultType: "complete", ...task.describe("extension") };
  const { outcome, inputRequests } = task;
  if (task.status === "input_required") {
    assertInputsDeclared(inputRequests, client);
    return { result: { ...shown, inputRequests } };
  }
  if (!outcome || task.status === "cancelled") return { result: shown };
  if ("error" in outcome) return { result: { ...shown, error: outcome.error } };
  return withResult(shown, outcome);
}

function withResult(shown: Record<string, unknown>, outcome: Result): Answer {
  if (!("bytes" in outcome)) return { result: { ...shown, result: outcome.result } };
  const { result: _earlier, ...rest } = shown;
  const chunks = resultChunks(`${stringifyExact(rest).slice(0, -1)},"result":`, outcome, "}");
  return rawResult(Buffer.concat(chunks.map((chunk) => Buffer.from(chunk))));
}

/** Asks the client, as long as nobody else has answered and the task wants to know it. */
async function askFor(
  [key, request]: [string, unknown],
  task: RunningTask,
  meta: Record<string, unknown>,
  ask: ReturnType<typeof askClient>,
  { signal }: Exchange,
): Promise<void> {
  const { method, params } = isRecord(request) ? request : {};
  const own = isRecord(params) ? params : {};
  const about = { ...own, _meta: { ...(isRecord(own["_meta"]) && own["_meta"]), ...meta } };
  const over = new AbortController();
  const stop = task.onChange(() => void (Object.hasOwn(task.inputRequests, key) || over.abort()));
  try {
    const until = AbortSignal.any([signal, over.signal]);
    const response = await ask({ method: String(method), params: about, signal: until });
    assertAnswersFit({ [key]: request }, { [key]: response });
    task.update({ [key]: response });
  } catch (error) {
    if (!over.signal.aborted) throw error;
  } finally {
    stop();
  }
}

/** A result as the call itself would have had it, and whose it is. */
function related(outcome: Answer, meta: Record<string, unknown>): Answer {
  if ("error" in outcome) return outcome;
  const { _meta: own } = valueOf(outcome);
  const about = Object.entries(meta).map(([key, value]) => [key, JSON.stringify(value)] as const);
  const edits: JsonEdits = new Map([["resultType", undefined]]);
  edits.set("_meta", isRecord(own) ? new Map(about) : JSON.stringify(meta));
  return { ...editedResult(outcome, edits), members: undefined };
}
