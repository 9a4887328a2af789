import type { ToolEntry } from "../catalog/tool-entry.ts";
import { PlugboardError } from "../errors.ts";
import type { Cancellation } from "../lib/abortable.ts";
import { isRecord } from "../lib/record.ts";
import type { Route } from "../servers/route.ts";
import type { JsonRpcAnswer, RawAnswer } from "../servers/rpc/messages.ts";
import { endQuestion } from "./approvals/ask.ts";
import type { Call } from "./call-log.ts";
import { inputsOf } from "./call-inputs.ts";
import type { InputContext } from "./call-inputs.ts";
import { findForCall } from "./clearance.ts";
import { isFinal, withInputs } from "./input-required.ts";
import { withOrigin } from "./origin.ts";
import { ParsedParams } from "./parsed-params.ts";
import { withResults } from "./result-arguments.ts";
import { failCall, prepare } from "./send.ts";
import type { CallContext, SendOptions, ServerRequestOptions } from "./send.ts";
import { keepTask, newTask, runTask, taskIn, taskOf, taskSupport } from "./tasks/run-task.ts";
import { taskEntry } from "./tasks/records.ts";

/** How a call is passed on. */
export interface ForwardOptions extends SendOptions {
  /** Ends the call like `signal`, and costs less: for whoever passes on very many. */
  cancellation?: Cancellation | undefined;
  /** As which account, instead of the configured one. */
  profile?: string | undefined;
  /** Hand out a result as its bytes, without parsing it. */
  raw?: boolean | undefined;
  /**
   * Let `onQuestion` give the input that a modern server requires (`input_required`) or the pages that a legacy one wants
   * opened first (-32042), and send the call again. Without it such an answer is returned like any other.
   */
  fulfil?: boolean | undefined;
  /**
   * Wait for the end of a task that the server makes of the call, and return what it came to as if there were none. With
   * `onTask` alone every task is kept and returned; with neither, only clients whose capabilities say so get one.
   */
  awaitTask?: boolean | undefined;
}

type ForwardContext = CallContext & InputContext;

/**
 * Passes a call on: found, visible, arguments, approval, deadline and events as for any call, everything else untouched.
 * `params` go to the server whole, except for the tool's name; its answer comes back as it is, `input_required` and
 * JSON-RPC errors included. Of `ParsedParams` with numbers that JavaScript would change, the values nobody changed are
 * sent as the bytes that came.
 */
export async function forwardCall(
  id: string,
  params: Record<string, unknown> | ParsedParams,
  options: ForwardOptions,
  context: ForwardContext,
): Promise<JsonRpcAnswer | RawAnswer> {
  const parsed = params instanceof ParsedParams ? params : undefined;
  const whole = parsed ? parsed.value : (params as Record<string, unknown>);
  const write = parsed?.writer();
  const known = context.catalog.known(id, context.scope);
  const tool = known ?? (await findForCall(id, signalOf(options), context));
  const routed = context.routed(tool.server, () => signalOf(options));
  const call = context.log.begin(tool, routed instanceof Promise ? await routed : routed, whole["arguments"]);
  options.cancellation?.onCancelled(() => call.cancel());
  try {
    const args = argumentsOf(whole);
    const given = options.resultArguments ? await withResults(args, context.readResult) : args;
    const asking = write ? { ...options, exact: () => parsed?.exactText("arguments") } : options;
    const prepared = prepare(tool, given, call, asking, context, parsed !== undefined);
    if (prepared.approval) await prepared.approval;
    if (options.parking?.question !== undefined)
      await endQuestion(tool, options.parking.question, context.queue);
    const sent: Record<string, unknown> = { ...whole, name: tool.name };
    if ("arguments" in whole || prepared.args !== args) sent["arguments"] = prepared.args;
    const task = wantedTask(tool, options, call.route);
    const asked = prepared.options;
    asked.raw = options.raw;
    asked.write = write;
    asked.task = task;
    if (options.boundTo !== undefined)
      asked.onlyAt = await context.boundTarget(options.boundTo, call.route, signalOf(options));
    let answer = await context.request(call.route, "tools/call", sent, asked);
    if (!isFinal(answer, call.trace.isModern === true)) {
      if (options.fulfil)
        answer = await withInputs(
          sent,
          { ...inputsOf(call.route, "tools/call", asked, context), isPassed: true },
          answer,
        );
      else answer = await withOrigin(answer, call.trace, (target) => context.markOf(target));
    }
    if (task && mayBeTask(answer, call, task))
      answer = await withTask(answer, tool, call, asked, options, context);
    call.end(isFailed(answer) ? "tool-error" : "ok");
    return answer;
  } catch (error) {
    throw failCall(error, tool, call);
  }
}

function signalOf({ signal, cancellation }: ForwardOptions): AbortSignal | undefined {
  return signal ?? cancellation?.signal;
}

/** Whoever hands tasks out takes those of legacy tools, too, wherever there can be one. */
function wantedTask(
  tool: ToolEntry,
  { awaitTask, onTask }: ForwardOptions,
  { config }: Route,
): ServerRequestOptions["task"] {
  const task = awaitTask || onTask ? taskOf(tool, config) : undefined;
  return task && !awaitTask && taskSupport(tool.raw) === "optional" ? "required" : task;
}

/** Most results need not be parsed to know that they are no task. */
function mayBeTask(
  answer: JsonRpcAnswer | RawAnswer,
  { trace }: Call,
  asked: ServerRequestOptions["task"],
): boolean {
  return trace.isModern ? !("bytes" in answer) || answer.resultType === "task" : asked === "required";
}

/** What becomes of a call if the server made a task of it: its end, or the task itself. */
async function withTask(
  answer: JsonRpcAnswer | RawAnswer,
  tool: ToolEntry,
  call: Call,
  asked: ServerRequestOptions,
  { awaitTask, onTask }: ForwardOptions,
  context: ForwardContext,
): Promise<JsonRpcAnswer | RawAnswer> {
  const task = taskIn(answer, call.trace.isModern === true, tool.server);
  if (!task) return answer;
  const { target } = call.trace;
  const record = await keepTask(task, tool, call.route.key, target, context);
  if (record) onTask?.(taskEntry(record));
  // What could not be kept cannot be handed out.
  if (record && !awaitTask) return answer;
  return runTask(record ?? newTask(task, tool, call.route.key, target), record, task.state, asked, context);
}

function argumentsOf({ arguments: args = {} }: Record<string, unknown>): Record<string, unknown> {
  if (isRecord(args)) return args;
  throw new PlugboardError("arguments-invalid", "The arguments of a call are an object.");
}

function isFailed(answer: JsonRpcAnswer | RawAnswer): boolean {
  if ("bytes" in answer) return answer.isError;
  return "error" in answer || answer.result["isError"] === true;
}
