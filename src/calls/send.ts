import { PlugboardError, isPlugboardError } from "../errors.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Scope } from "../catalog/filter.ts";
import type { ToolEntry } from "../catalog/tool-entry.ts";
import type { Validators } from "../catalog/validators.ts";
import type { Settings } from "../config/schema.ts";
import type { ServerConfig } from "../config/server-schema.ts";
import type { Questions } from "../interact/questions.ts";
import type { ConnectionKey } from "../servers/connection-key.ts";
import type { JsonRpcAnswer, Progress, RawAnswer } from "../servers/rpc/messages.ts";
import type { RequestOptions } from "../servers/rpc/requests.ts";
import type { Capabilities } from "../servers/rpc/envelope.ts";
import { approve, assertNotDenied } from "./approve.ts";
import type { ApproveContext } from "./approve.ts";
import type { Call, CallLog } from "./call-log.ts";
import { fitArguments } from "./validate.ts";

/** What every call can be given. */
export interface SendOptions extends Pick<
  RequestOptions,
  "signal" | "onProgress" | "onQuestion" | "onNotification"
> {
  /** What happens where config says nothing about approval: `auto` asks by annotations, `approve` does not ask. */
  approval?: ApproveContext["otherwise"] | undefined;
  /** How long the server may be silent. */
  timeoutMs?: number | undefined;
  /** How long the call may take at all, whatever progress says. */
  maxTimeoutMs?: number | undefined;
  /** The capabilities of whoever calls, where they differ from those of the view. */
  capabilities?: Capabilities | undefined;
}

/** What a request to a server is sent with. */
export interface ServerRequestOptions
  extends
    Pick<
      RequestOptions,
      "signal" | "onProgress" | "onQuestion" | "onNotification" | "raw" | "write" | "trace"
    >,
    Pick<SendOptions, "timeoutMs" | "maxTimeoutMs" | "capabilities"> {
  /** The call that it is part of. */
  call?: { readonly id: string } | undefined;
  /** The connection, where it is known already. */
  key?: ConnectionKey | undefined;
}

/** What the stages of a call need; one for each view. */
export interface CallContext {
  scope: Scope;
  catalog: Catalog;
  validators: Validators;
  questions: Questions;
  log: CallLog;
  readonly settings: Settings;
  configOf(server: string): ServerConfig;
  keyOf(server: string): ConnectionKey;
  request(
    server: string,
    params: Record<string, unknown>,
    options: ServerRequestOptions,
  ): Promise<JsonRpcAnswer | RawAnswer>;
  /** Does it again after a login where one was missing. */
  signedIn<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T>;
}

/** The tool that a call means; there at once when its list is known. */
export function findForCall(
  id: string,
  signal: AbortSignal | undefined,
  { catalog, scope, signedIn }: CallContext,
): ToolEntry | Promise<ToolEntry> {
  return catalog.known(id, scope) ?? signedIn(signal, () => catalog.toCall(id, scope, signal));
}

export interface Prepared {
  args: Record<string, unknown>;
  /** What was repaired in them. */
  notes: readonly string[];
  /** Somebody is being asked. */
  approval: Promise<void> | undefined;
  options: ServerRequestOptions;
}

/** The first half of a call up to its sending: available, arguments, approval. */
export function prepare(
  tool: ToolEntry,
  args: Record<string, unknown>,
  call: Call,
  options: SendOptions,
  context: CallContext,
): Prepared {
  assertAvailable(tool);
  const { signal, onProgress: heard } = options;
  const { fitted, notes } = fitArguments(tool, args, context.validators);
  const approval = approve(tool, fitted, call, {
    config: context.configOf(tool.server),
    settings: context.settings,
    otherwise: options.approval ?? "approve",
    context,
    signal,
  });
  const onProgress =
    heard || call.trace.isMeasured
      ? (step: Progress) => {
          call.progress(step);
          heard?.(step);
        }
      : undefined;
  return {
    args: fitted,
    notes,
    approval,
    options: {
      signal,
      onProgress,
      onQuestion: options.onQuestion,
      onNotification: options.onNotification,
      timeoutMs: options.timeoutMs,
      maxTimeoutMs: options.maxTimeoutMs,
      capabilities: options.capabilities,
      trace: call.trace,
      call,
      key: call.key,
    },
  };
}

/**
 * Somebody took their time to approve. What holds by now counts: a tool that is gone, hidden, denied or takes other
 * arguments is not called.
 */
export async function approved(
  id: string,
  tool: ToolEntry,
  { args, approval }: Prepared,
  options: SendOptions,
  context: CallContext,
): Promise<void> {
  await approval;
  const now = await findForCall(id, options.signal, context);
  if (now === tool) return;
  assertAvailable(now);
  fitArguments(now, args, context.validators);
  assertNotDenied(now, context.configOf(now.server), context.settings);
}

/** Ends a call that failed; the error knows its tool, and whether repeating it would do harm. */
export function failCall(error: unknown, tool: ToolEntry, call: Call): unknown {
  const failure = forTool(error, tool);
  call.end(isPlugboardError(failure, "call-cancelled") ? "cancelled" : "failed", failure);
  return failure;
}

function assertAvailable({ status, because, id, server, name }: ToolEntry): void {
  if (status === "available") return;
  throw new PlugboardError("tool-hidden", `The tool ${name} of "${server}" cannot be called: ${because}.`, {
    server,
    tool: id,
  });
}

function forTool(error: unknown, { id, annotations }: ToolEntry): unknown {
  if (!isPlugboardError(error)) return error;
  const repeatable = annotations["readOnlyHint"] === true || annotations["idempotentHint"] === true;
  if (error.repeatable === repeatable && error.tool !== undefined) return error;
  return error.with({ tool: error.tool ?? id, repeatable });
}
