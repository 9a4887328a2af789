import type { ToolEntry } from "../catalog/tool-entry.ts";
import { isPlugboardError } from "../errors.ts";
import type { Route } from "../servers/route.ts";
import type { JsonRpcAnswer } from "../servers/rpc/messages.ts";
import { endQuestion } from "./approvals/ask.ts";
import { answerError } from "./answer-error.ts";
import { inputsOf } from "./call-inputs.ts";
import type { InputContext } from "./call-inputs.ts";
import { isFinal, withInputs } from "./input-required.ts";
import type { Inputs } from "./input-required.ts";
import { boundResult } from "./output/bound-result.ts";
import type { Keep, OutputPolicy } from "./output/output.ts";
import { requestMeta } from "./request-meta.ts";
import { withResults } from "./result-arguments.ts";
import { mayRepeat } from "./retry.ts";
import { findForCall } from "./clearance.ts";
import { failCall, prepare } from "./send.ts";
import type { Call } from "./call-log.ts";
import { keepTask, newTask, runTask, taskIn, taskOf } from "./tasks/run-task.ts";
import type { NewTask } from "./tasks/run-task.ts";
import { taskEntry } from "./tasks/records.ts";
import type { CallContext, Prepared, SendOptions } from "./send.ts";
import { checkOutput } from "./validate.ts";

/** The server's own result. Limits may have cut it; `_meta["plugboard/output"]` then has the handle of the whole. */
export interface CallResult {
  content: Record<string, unknown>[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
  _meta?: Record<string, unknown>;
  [key: string]: unknown;
}

/** How a tool is called. */
export interface CallOptions extends SendOptions {
  /** Pass the result on whole, whatever its size; `unless-limited` only where neither config nor environment sets a limit. */
  whole?: boolean | "unless-limited" | undefined;
  /** The limit of this result in estimated tokens, in place of the configured ones. */
  maxTokens?: number | undefined;
  /** As which account, instead of the configured one. */
  profile?: string | undefined;
  /** Fields for `_meta` of the request. Those of the protocol itself (`progressToken`, `io.modelcontextprotocol/…`) are left out. */
  meta?: Readonly<Record<string, unknown>> | undefined;
}

/** What presenting a result needs beside what sending does. */
export interface PresentContext extends CallContext, InputContext {
  keep(tool: ToolEntry): Keep<CallResult>;
  /** The limits of results where config says nothing. */
  output: OutputPolicy;
}

/** One tool call, top to bottom. */
export async function callTool(
  id: string,
  args: Record<string, unknown>,
  options: CallOptions,
  context: PresentContext,
): Promise<CallResult> {
  const found = findForCall(id, options.signal, context);
  const tool = found instanceof Promise ? await found : found;
  const routed = context.routed(tool.server, () => options.signal);
  const call = context.log.begin(tool, routed instanceof Promise ? await routed : routed, args);
  try {
    const given = options.resultArguments ? await withResults(args, context.readResult) : args;
    const prepared = prepare(tool, given, call, options, context);
    if (prepared.approval) await prepared.approval;
    if (options.parking?.question !== undefined)
      await endQuestion(tool, options.parking.question, context.queue);
    const sent = await sendRepeating(tool, call, prepared, requestMeta(tool, options.meta), context);
    const answer = "state" in sent ? await awaitTask(sent, tool, call, prepared, options, context) : sent;
    const presented = present(tool, answer, options, call.route, context, call.trace.resultBytes);
    const { result, note } = presented instanceof Promise ? await presented : presented;
    call.end(result.isError === true ? "tool-error" : "ok", undefined, note);
    return withNotes(result, prepared.notes);
  } catch (error) {
    throw failCall(error, tool, call);
  }
}

/** Sends the call, answers input that the server requires, and sends again where that is certain to do no harm. */
async function sendRepeating(
  tool: ToolEntry,
  call: Call,
  { args, options }: Prepared,
  meta: Record<string, unknown> | undefined,
  context: PresentContext,
): Promise<JsonRpcAnswer | NewTask> {
  const { server, name } = tool;
  const params = meta ? { name, arguments: args, _meta: meta } : { name, arguments: args };
  options.task = taskOf(tool, call.route.config);
  const { signal } = options;
  let wasSent = false;
  for (let attempt = 0; ; attempt++) {
    try {
      const answer = (await context.request(call.route, "tools/call", params, options)) as JsonRpcAnswer;
      const isModern = options.trace?.isModern === true;
      if (isFinal(answer, isModern) && options.task !== "required") return answer;
      const inputs = inputsOf(call.route, "tools/call", options, context) as Inputs;
      const final = await withInputs(params, { ...inputs, mayBeTask: true }, answer);
      return taskIn(final, options.trace?.isModern === true, server) ?? final;
    } catch (error) {
      const { config, loaded } = call.route;
      if (!signal?.aborted && mayRepeat(error, tool, attempt, config, loaded.settings)) {
        wasSent ||= isPlugboardError(error) && error.executed !== "no";
        continue;
      }
      // That the last attempt never left says nothing about the ones before it.
      throw wasSent && isPlugboardError(error) && error.executed === "no"
        ? error.with({ executed: "maybe" })
        : error;
    }
  }
}

/** The server made a task of the call: waits for it. It is remembered, in case that this process does not see its end. */
async function awaitTask(
  task: NewTask,
  tool: ToolEntry,
  call: Call,
  { options }: Prepared,
  { onTask }: CallOptions,
  context: PresentContext,
): Promise<JsonRpcAnswer> {
  const { target } = call.trace;
  const record = await keepTask(task, tool, call.route.key, target, context);
  if (record) onTask?.(taskEntry(record));
  const answer = await runTask(
    record ?? newTask(task, tool, call.route.key, target),
    record,
    task.state,
    options,
    context,
  );
  // What was counted is the size of the task, not of the result.
  call.trace.resultBytes = undefined;
  return answer;
}

/** The second half: errors, the output's schema, its limits. */
export function present(
  tool: ToolEntry,
  answer: JsonRpcAnswer,
  { whole, maxTokens }: Pick<CallOptions, "whole" | "maxTokens">,
  route: Route,
  context: PresentContext,
  bytes: number | undefined,
): ReturnType<typeof boundResult> {
  if ("error" in answer)
    return answerError(tool, answer.error, route.key, context).then((error) => Promise.reject(error));
  const result = checkOutput(tool, answer.result as CallResult, route.config, context.validators);
  if (whole === true) return { result };
  const asked = { maxTokens, isUnlimited: whole === "unless-limited" };
  return boundResult(tool, result, route, context, bytes, asked);
}

function withNotes(result: CallResult, notes: readonly string[]): CallResult {
  if (notes.length === 0) return result;
  return { ...result, _meta: { ...result._meta, "plugboard/arguments": notes } };
}
