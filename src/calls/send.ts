import { isPlugboardError } from "../errors.ts";
import type { LogLevel } from "../events.ts";
import type { Audience } from "../catalog/audience.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Scope } from "../catalog/filter.ts";
import type { ToolEntry } from "../catalog/tool-entry.ts";
import type { Validators } from "../catalog/validators.ts";
import type { Cancellation } from "../lib/abortable.ts";
import { looksAtArguments, rulingOf } from "../config/approval/rules.ts";
import { approvalFields } from "../config/approval/origin.ts";
import type { Mode } from "../config/approval/schema.ts";
import type { LoadedConfig } from "../config/model.ts";
import type { Interact } from "../interact/interact.ts";
import type { Questions } from "../interact/questions.ts";
import type { Route } from "../servers/route.ts";
import type { JsonRpcAnswer, Progress, RawAnswer } from "../servers/rpc/messages.ts";
import type { RequestOptions } from "../servers/rpc/requests.ts";
import type { Capabilities } from "../servers/rpc/envelope.ts";
import type { SessionCheck, SessionRequest } from "../servers/session.ts";
import type { TargetIdentity } from "../servers/target-identity.ts";
import type { RememberedApprovals } from "./approvals/remembered.ts";
import type { Call, CallLog } from "./call-log.ts";
import { Clearance, assertAvailable } from "./clearance.ts";
import type { Parking } from "./queue/parking.ts";
import type { ApprovalQueue } from "./queue/queue.ts";
import type { ReadResult } from "./result-arguments.ts";
import { assertSerializable, ownCopy } from "./serializable.ts";
import type { TaskEntry, TaskRecords } from "./tasks/records.ts";
import { fitArguments } from "./validate.ts";

/** What every call can be given. */
export interface SendOptions extends Pick<
  RequestOptions,
  "signal" | "onProgress" | "onQuestion" | "onNotification" | "exclusive"
> {
  /** What happens where config says nothing about approval: `auto` asks by annotations, `approve` does not ask. */
  approval?: Mode | undefined;
  /** Is asked about this call in place of the view's `interact.approve`, for instance because a person has answered already. */
  approve?: Interact["approve"] | undefined;
  /** `app` if the user interface of an MCP App calls, which may use tools that are not for models. */
  for?: Audience | undefined;
  /** Replaces `{ "$result": "r_…" }` in the arguments by the kept result of this caller. Default: false. */
  resultArguments?: boolean | undefined;
  /** How long the server may be silent. */
  timeoutMs?: number | undefined;
  /** How long the call may take at all, whatever progress says. */
  maxTimeoutMs?: number | undefined;
  /** The capabilities of whoever calls, where they differ from those of the view. */
  capabilities?: Capabilities | undefined;
  /**
   * Which log messages a modern server sends during the call, to `onNotification`. Legacy servers have one level for all:
   * `hub.setLogLevel`.
   */
  logLevel?: LogLevel | undefined;
  /**
   * HTTP headers for this call only, in place of configured ones of the same name; other transports ignore them. Those
   * of the protocol and the connection (`Mcp-*`, `Content-*`, `Host` …) are refused.
   */
  headers?: Readonly<Record<string, string>> | undefined;
  /** The `from` of the answer that this goes on with: fails if anything else would get it. */
  boundTo?: string | undefined;
  /** How the call waits if `approvals.queue` is on and nobody is there to approve it. */
  parking?: Parking | undefined;
  /** Called when the server makes a task of the call: it can be found again by its id, even after a restart. */
  onTask?: ((task: TaskEntry) => void) | undefined;
}

/** What a request to a server is sent with. */
export interface ServerRequestOptions
  extends
    Pick<
      RequestOptions,
      | "signal"
      | "onProgress"
      | "onQuestion"
      | "onNotification"
      | "exclusive"
      | "raw"
      | "write"
      | "trace"
      | "waitsForTask"
    >,
    Pick<SendOptions, "timeoutMs" | "maxTimeoutMs" | "capabilities" | "logLevel" | "headers"> {
  /** What ends it beside `signal`: whoever has to wait for more than the server needs its signal. */
  cancellation?: Cancellation | undefined;
  /** The call that it is part of. */
  call?: { readonly id: string } | undefined;
  check?: SessionCheck | undefined;
  /** Fails if it would go to anything else than this. */
  onlyAt?: TargetIdentity | undefined;
  task?: SessionRequest["task"];
}

/** What the stages of a call need; one for each view. */
export interface CallContext {
  scope: Scope;
  catalog: Catalog;
  validators: Validators;
  questions: Questions;
  queue: ApprovalQueue;
  log: CallLog;
  /** Earlier answers that allow calls. */
  readonly approvals: RememberedApprovals;
  /** The configuration of now. */
  readonly loaded: LoadedConfig;
  /** Where this view's calls go at a server. */
  route(server: string): Route;
  /** The same, as soon as it is known which connection that is. */
  routed(server: string, signal: () => AbortSignal | undefined): Route | Promise<Route>;
  /** What a mark stands for, if that is still what would run or be contacted; throws if not. */
  boundTarget(mark: string, route: Route, signal?: AbortSignal): Promise<TargetIdentity>;
  /** The mark of what runs or is contacted. */
  markOf(target: TargetIdentity): Promise<string>;
  request(
    route: Route,
    method: string,
    params: Record<string, unknown>,
    options: ServerRequestOptions,
  ): Promise<JsonRpcAnswer | RawAnswer>;
  /** The tasks that calls became. */
  readonly tasks: TaskRecords;
  /** Where a task was made. */
  taskRoute(task: { server: string; shared: boolean }): Route;
  /** What this caller has under a handle. */
  readResult: ReadResult;
  /** Does it again after a login where one was missing. */
  signedIn<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T>;
}

/** Options of a call with what only its stages know. */
export interface PrepareOptions extends SendOptions {
  cancellation?: Cancellation | undefined;
  /** The arguments as they will be sent, if JavaScript has changed their numbers. */
  exact?: (() => string | undefined) | undefined;
}

export interface Prepared {
  args: Record<string, unknown>;
  /** What was repaired in them. */
  notes: readonly string[];
  /** Somebody is being asked; the call may be sent when it has settled. */
  approval: Promise<void> | undefined;
  options: ServerRequestOptions;
}

/**
 * The first half of a call up to its sending: available, arguments, approval. `isOwn` if nobody else holds the arguments;
 * others could change them while somebody is asked about them.
 */
export function prepare(
  tool: ToolEntry,
  given: Record<string, unknown>,
  call: Call,
  options: PrepareOptions,
  context: CallContext,
  isOwn = false,
): Prepared {
  assertAvailable(tool);
  assertSerializable(tool, given);
  const { signal, onProgress: heard } = options;
  const { route } = call;
  const { fitted, notes } = fitArguments(tool, given, route.config, context.validators);
  const fields = approvalFields(tool.server, route.loaded);
  // Rules judge what is sent.
  const isCopied = !isOwn && looksAtArguments(tool, fields);
  const args = isCopied ? ownCopy(fitted) : fitted;
  const clearance = new Clearance(tool, given, args, call, options, context);
  const isFree = rulingOf(tool, args, fields, options.approval ?? "approve").mode === "approve";
  const approval = isFree ? undefined : clearance.approve(isOwn || isCopied);
  const onProgress =
    heard || call.trace.isMeasured
      ? (step: Progress) => {
          call.progress(step);
          heard?.(step);
        }
      : undefined;
  return {
    args: clearance.args,
    notes,
    approval,
    options: {
      signal,
      onProgress,
      onQuestion: options.onQuestion,
      onNotification: options.onNotification,
      exclusive: options.exclusive,
      timeoutMs: options.timeoutMs,
      maxTimeoutMs: options.maxTimeoutMs,
      capabilities: options.capabilities,
      logLevel: options.logLevel,
      headers: options.headers,
      trace: call.trace,
      call,
      check: clearance,
      onlyAt: undefined,
      cancellation: options.cancellation,
      // Those who pass calls on set these: copying all of it once more would cost every call.
      raw: undefined,
      write: undefined,
      task: undefined,
    },
  };
}

/** Ends a call that failed; the error knows its tool, and whether repeating it would do harm. */
export function failCall(error: unknown, tool: ToolEntry, call: Call): unknown {
  const failure = forTool(error, tool);
  call.end(isPlugboardError(failure, "call-cancelled") ? "cancelled" : "failed", failure);
  return failure;
}

function forTool(error: unknown, { id, annotations }: ToolEntry): unknown {
  if (!isPlugboardError(error)) return error;
  const repeatable = annotations["readOnlyHint"] === true || annotations["idempotentHint"] === true;
  if (error.repeatable === repeatable && error.tool !== undefined) return error;
  return error.with({ tool: error.tool ?? id, repeatable });
}
