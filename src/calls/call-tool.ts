import type { ToolEntry } from "../catalog/tool-entry.ts";
import { isPlugboardError } from "../errors.ts";
import type { JsonRpcAnswer } from "../servers/rpc/messages.ts";
import { answerError } from "./answer-error.ts";
import { isFinal, withInputs } from "./input-required.ts";
import type { AnswerInput } from "./input-required.ts";
import { boundResult } from "./output/bound-result.ts";
import type { Keep } from "./output/bound-result.ts";
import type { OutputPolicy } from "./output/output.ts";
import { mayRepeat } from "./retry.ts";
import { approved, failCall, findForCall, prepare } from "./send.ts";
import type { CallContext, Prepared, SendOptions } from "./send.ts";
import { checkOutput } from "./validate.ts";

/** The server's own answer, nothing wrapped around it. */
export interface CallResult {
  content: Record<string, unknown>[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
  _meta?: Record<string, unknown>;
  [key: string]: unknown;
}

export interface CallOptions extends SendOptions {
  /** Pass the result on whole, whatever its size. */
  whole?: boolean | undefined;
  /** As which account, instead of the configured one. */
  profile?: string | undefined;
}

/** What presenting a result needs beside what sending does. */
export interface PresentContext extends CallContext {
  answer(server: string, call: string | undefined, signal: AbortSignal | undefined): AnswerInput;
  keep(tool: ToolEntry): Keep;
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
  const call = context.log.begin(tool, context.scope.use.caller, context.keyOf(tool.server));
  try {
    const prepared = prepare(tool, args, call, options, context);
    if (prepared.approval) await approved(id, tool, prepared, options, context);
    const answer = await sendRepeating(tool, prepared, context);
    const presented = present(tool, answer, options, context);
    const result = presented instanceof Promise ? await presented : presented;
    call.end(result.isError === true ? "tool-error" : "ok");
    return withNotes(result, prepared.notes);
  } catch (error) {
    throw failCall(error, tool, call);
  }
}

/** Sends the call, answers input that the server requires, and sends again where that is certain to do no harm. */
async function sendRepeating(
  tool: ToolEntry,
  { args, options }: Prepared,
  context: PresentContext,
): Promise<JsonRpcAnswer> {
  const { server, name } = tool;
  const params = { name, arguments: args };
  const { signal } = options;
  let wasSent = false;
  for (let attempt = 0; ; attempt++) {
    try {
      const answer = (await context.request(server, params, options)) as JsonRpcAnswer;
      if (isFinal(answer)) return answer;
      const again = (asked: Record<string, unknown>) =>
        context.request(server, asked, options) as Promise<JsonRpcAnswer>;
      return await withInputs(server, params, answer, again, cancellable(tool, options, context));
    } catch (error) {
      const { settings } = context;
      if (!signal?.aborted && mayRepeat(error, tool, attempt, context.configOf(server), settings)) {
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

/** Answers input that the server requires; giving the call up withdraws the question. */
function cancellable(
  { server }: ToolEntry,
  { signal, call, trace }: Prepared["options"],
  context: PresentContext,
): AnswerInput {
  return async (method, params) => {
    const stop = new AbortController();
    if (trace) trace.cancel = (reason) => stop.abort(reason);
    const either = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
    return context.answer(server, call?.id, either)(method, params);
  };
}

/** The second half: errors, the output's schema, its limits. */
function present(
  tool: ToolEntry,
  answer: JsonRpcAnswer,
  { whole }: CallOptions,
  context: PresentContext,
): CallResult | Promise<CallResult> {
  if ("error" in answer)
    return answerError(tool, answer.error, context).then((error) => Promise.reject(error));
  const config = context.configOf(tool.server);
  const result = checkOutput(tool, answer.result as CallResult, config, context.validators);
  return whole ? result : boundResult(tool, result, config, context);
}

function withNotes(result: CallResult, notes: readonly string[]): CallResult {
  if (notes.length === 0) return result;
  return { ...result, _meta: { ...result._meta, "plugboard/arguments": notes } };
}
