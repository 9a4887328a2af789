import { PlugboardError } from "../../errors.ts";
import type { JsonRpcAnswer } from "../../servers/rpc/messages.ts";
import type { CallOptions, CallResult, PresentContext } from "../call-tool.ts";
import { present } from "../call-tool.ts";
import { failCall } from "../send.ts";
import type { SendOptions } from "../send.ts";
import { findForCall } from "../clearance.ts";
import { cancelTask, stateIn } from "./follow.ts";
import { taskEntry } from "./records.ts";
import type { TaskEntry, TaskRecord } from "./records.ts";
import { runTask, taskRequest } from "./run-task.ts";
import type { TaskState } from "./task.ts";

/** How to go on with a task. */
export interface TaskOptions extends Pick<
  SendOptions,
  "signal" | "onProgress" | "onQuestion" | "timeoutMs" | "maxTimeoutMs" | "capabilities"
> {
  /** Ends the waiting when it is aborted, and leaves the task as it is; `signal` cancels it. */
  leave?: AbortSignal | undefined;
}

/** A task that somebody goes on with. */
export interface TaskHandle extends TaskEntry {
  /** Asks the server how it is. Throws `server-error` if the server no longer knows it. */
  state(options?: TaskOptions): Promise<TaskState>;
  /** Waits for its end, answers what the server asks meanwhile, and returns the result as `callTool` would. */
  result(options?: TaskOptions & Pick<CallOptions, "whole">): Promise<CallResult>;
  /** The same, but returns the server's answer unchanged. */
  answer(options?: TaskOptions): Promise<JsonRpcAnswer>;
  /** Sends a request about it, and returns the server's answer unchanged, with the server's own id of the task. */
  request(
    method: "tasks/get" | "tasks/update" | "tasks/cancel",
    params?: Record<string, unknown>,
    options?: TaskOptions,
  ): Promise<JsonRpcAnswer>;
  /** Tells the server to stop. It need not obey; nobody waits for the task any more. */
  cancel(): Promise<void>;
}

export function taskHandle(record: TaskRecord, context: PresentContext): TaskHandle {
  const { server, taskId } = record;
  const about = { server, tool: record.name, taskId, protocol: record.protocol };
  const forget = () => context.tasks.remove(context.scope.use.caller, record);

  /** Counts as a call of the tool, so that it can be seen and cancelled like one. */
  const run = async <T>(options: TaskOptions, end: (answer: JsonRpcAnswer, call: Call) => Promise<T>) => {
    const found = findForCall(record.tool, options.signal, context);
    const tool = found instanceof Promise ? await found : found;
    const call = context.log.begin(tool, context.route(server));
    const onProgress: TaskOptions["onProgress"] = (step) => {
      call.progress(step);
      options.onProgress?.(step);
    };
    try {
      const running = { ...options, onProgress, call, trace: call.trace };
      return await end(await runTask(record, record, undefined, running, context), { tool, call });
    } catch (error) {
      throw failCall(error, tool, call);
    }
  };

  return {
    ...taskEntry(record),
    async state(options = {}) {
      const { signal, timeoutMs, maxTimeoutMs } = options;
      const request = taskRequest(record, options, context);
      return stateIn(about, await request("tasks/get", { taskId }, { signal, timeoutMs, maxTimeoutMs }));
    },
    result: ({ whole, ...options } = {}) =>
      run(options, async (answer, { tool, call }) => {
        const { result, note } = await present(tool, answer, { whole }, call.route, context, undefined);
        call.end(result.isError === true ? "tool-error" : "ok", undefined, note);
        return result;
      }),
    answer: (options = {}) =>
      run(options, async (answer, { call }) => {
        call.end("error" in answer || answer.result["isError"] === true ? "tool-error" : "ok");
        return answer;
      }),
    request: async (method, params = {}, options = {}) => {
      // Code without types may ask for more than a task's own methods, which would get around the rules of calls.
      if (!taskMethods.has(method)) throw notOfTask(method, server);
      const { signal, timeoutMs, maxTimeoutMs } = options;
      const request = taskRequest(record, options, context);
      return request(method, { ...params, taskId }, { signal, timeoutMs, maxTimeoutMs });
    },
    async cancel() {
      await cancelTask({ taskId, request: taskRequest(record, {}, context) });
      await forget();
    },
  };
}

const taskMethods: ReadonlySet<string> = new Set(["tasks/get", "tasks/update", "tasks/cancel"]);

function notOfTask(method: unknown, server: string): PlugboardError {
  return new PlugboardError("usage-invalid", `A task has no method ${JSON.stringify(method)}.`, {
    server,
    hint: `It has ${[...taskMethods].join(", ")}.`,
  });
}

type Call = { tool: Parameters<typeof failCall>[1]; call: Parameters<typeof failCall>[2] };

export function unknownTask(): PlugboardError {
  return new PlugboardError("usage-invalid", "There is no task with this id for you", {
    hint: "Tasks are kept until their end is seen, for as long as their server keeps them and at most a week, and only for the caller that made them. `tasks()` lists them.",
  });
}
