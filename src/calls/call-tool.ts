import { PlugboardError, isPlugboardError } from "../errors.ts";
import type { CallEnd, PlugboardEvent } from "../events.ts";
import type { Settings } from "../config/schema.ts";
import type { ServerConfig } from "../config/server-schema.ts";
import type { Catalog, Narrowing } from "../catalog/catalog.ts";
import type { ToolEntry } from "../catalog/tool-entry.ts";
import type { Validators } from "../catalog/validators.ts";
import type { Interact } from "../interact/interact.ts";
import type { EventStream } from "../lib/event-stream.ts";
import { summarise } from "../servers/connection-errors.ts";
import type { JsonRpcAnswer, Progress } from "../servers/rpc/lane.ts";
import { approve } from "./approve.ts";
import type { ApproveContext } from "./approve.ts";
import { checkOutput, fitArguments } from "./validate.ts";
import { withInputs } from "./input-required.ts";
import type { AnswerInput } from "./input-required.ts";
import { boundResult } from "./output/bound-result.ts";
import type { Keep } from "./output/bound-result.ts";
import type { OutputPolicy } from "./output/output.ts";
import { answerError } from "./answer-error.ts";
import { mayRepeat } from "./retry.ts";

/** The server's own answer, nothing wrapped around it. */
export interface CallResult {
  content: Record<string, unknown>[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
  _meta?: Record<string, unknown>;
  [key: string]: unknown;
}

export interface CallOptions {
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: Progress) => void) | undefined;
  /** What happens where config says nothing about approval: `auto` asks by annotations, `approve` does not ask. */
  approval?: ApproveContext["otherwise"] | undefined;
  /** Pass the result on whole, whatever its size. */
  whole?: boolean | undefined;
  timeoutMs?: number | undefined;
  /** As which account, instead of the configured one. */
  profile?: string | undefined;
}

export interface CallContext {
  catalog: Catalog;
  validators: Validators;
  interact: Interact;
  narrowing: Narrowing;
  readonly settings: Settings;
  configOf(server: string): ServerConfig;
  request(server: string, params: Record<string, unknown>, options: CallOptions): Promise<JsonRpcAnswer>;
  /** Does it again after a login where one was missing. */
  signedIn<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T>;
  answer(server: string, signal: AbortSignal | undefined): AnswerInput;
  keep(tool: ToolEntry): Keep;
  /** The limits of results where config says nothing. */
  output: OutputPolicy;
  events: EventStream<PlugboardEvent>;
  nextCall(): string;
  now(): number;
}

const never = new AbortController().signal;

/** One tool call, top to bottom. */
export async function callTool(
  id: string,
  args: Record<string, unknown>,
  options: CallOptions,
  context: CallContext,
): Promise<CallResult> {
  const { catalog, narrowing } = context;
  const tool =
    catalog.known(id, narrowing) ??
    (await context.signedIn(options.signal, () => catalog.toCall(id, narrowing)));
  const call = begin(tool, context);
  try {
    assertOffered(tool);
    const config = context.configOf(tool.server);
    const { fitted, notes } = fitArguments(tool, args, context.validators);
    const approval = approve(tool, fitted, {
      config,
      settings: context.settings,
      otherwise: options.approval ?? "approve",
      interact: context.interact,
      signal: options.signal ?? never,
    });
    if (approval) await approval;
    const answer = await send(tool, fitted, options, context, call.progress);
    if ("error" in answer) throw await answerError(tool, answer.error, catalog, narrowing);
    const result = checkOutput(tool, answer.result as CallResult, config, context.validators);
    const bounded = options.whole ? result : await boundResult(tool, result, config, context);
    call.end(bounded.isError ? "tool-error" : "ok");
    return notes.length === 0
      ? bounded
      : { ...bounded, _meta: { ...bounded._meta, "plugboard/arguments": notes } };
  } catch (error) {
    call.end(isPlugboardError(error, "call-cancelled") ? "cancelled" : "failed", error);
    throw error;
  }
}

function assertOffered({ standing, because, id, server, name }: ToolEntry): void {
  if (standing === "offered") return;
  throw new PlugboardError("tool-hidden", `The tool ${name} of "${server}" cannot be called: ${because}.`, {
    server,
    tool: id,
  });
}

/** Sends the call, and again where that is certain to do no harm. */
async function send(
  tool: ToolEntry,
  args: Record<string, unknown>,
  options: CallOptions,
  context: CallContext,
  progress: (progress: Progress) => void,
): Promise<JsonRpcAnswer> {
  const { server, name } = tool;
  const { signal, timeoutMs } = options;
  const onProgress = (step: Progress) => {
    progress(step);
    options.onProgress?.(step);
  };
  const params = { name, arguments: args };
  const once = (asked: Record<string, unknown>) =>
    context.request(server, asked, { signal, timeoutMs, onProgress });
  for (let attempt = 0; ; attempt++) {
    try {
      return await withInputs(server, params, once, context.answer(server, signal));
    } catch (error) {
      if (signal?.aborted || !mayRepeat(error, tool, attempt, context.configOf(server), context.settings))
        throw error;
    }
  }
}

/** `call-start` now, `call-end` exactly once. */
function begin({ server, id: tool }: ToolEntry, { events, now, nextCall, narrowing }: CallContext) {
  const startedAt = now();
  const facts = { call: nextCall(), server, tool };
  const caller = narrowing.caller === undefined ? undefined : { caller: narrowing.caller };
  if (events.isHeard) events.emit({ type: "call-start", ...facts, ...caller, at: startedAt });
  return {
    progress: (step: Progress) => events.emit({ type: "call-progress", ...facts, ...step, at: now() }),
    end: (outcome: CallEnd["outcome"], error?: unknown) => {
      if (!events.isHeard) return;
      const at = now();
      const durationMs = at - startedAt;
      const summary = isPlugboardError(error) ? { error: summarise(error) } : undefined;
      events.emit({ type: "call-end", ...facts, ...caller, durationMs, outcome, ...summary, at });
    },
  };
}
