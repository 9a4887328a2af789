import type { Progress } from "../../host.ts";
import type { CallOptions } from "../../index.ts";
import type { Turn } from "./turn.ts";

/** What every adapter can be told. */
export interface AgentOptions {
  /**
   * `result` (the default): what goes wrong is a result that says what happened and whether to try again, so that the
   * model can act on it. `throw`: it is an exception, a `PlugboardError`. If a person ends the whole turn (`endsTurn`), that
   * is always an exception, so that no model goes on.
   */
  errors?: "result" | "throw" | undefined;
  /** False for models without eyes and ears: images, audio and files are described in words. Default: true. */
  media?: boolean | undefined;
  /** What happens where the configuration says nothing about approval; see `CallOptions`. Default: `approve`. */
  approval?: CallOptions["approval"];
  /** Fields for `_meta` of the request of each call, for instance whose conversation it belongs to. Models neither see nor set them. */
  meta?: ((call: AgentCall) => Meta | Promise<Meta>) | undefined;
  /** Hears of the progress of each call. `callId` is the SDK's id of the call, where it has one. */
  onProgress?:
    | ((progress: Progress, call: { tool: string; callId?: string | undefined }) => void)
    | undefined;
  /** Ends the wait for the servers' lists. */
  signal?: AbortSignal | undefined;
}

/** A call that an agent makes. */
export interface AgentCall {
  /** The id of the tool. */
  tool: string;
  arguments: Record<string, unknown>;
  callId?: string | undefined;
}

type Meta = Readonly<Record<string, unknown>> | null | undefined;

/** How the calls of one message are answered. */
export interface AnswerOptions {
  signal?: AbortSignal | undefined;
  /** Fields for `_meta` of the requests, beside those of the options. */
  meta?: Readonly<Record<string, unknown>> | undefined;
}

/** What is known about one call. */
export interface CallContext {
  callId?: string | undefined;
  signal?: AbortSignal | undefined;
  /** The calls that are made together with this one. */
  turn?: Turn | undefined;
  /** Fields for `_meta` of the request, beside those of the options. */
  meta?: Readonly<Record<string, unknown>> | null | undefined;
  /** What the SDK has one of for each run; an approval that is to last holds for that. */
  run?: object | undefined;
  /** True for a call that is made through `call_tool`: an approval of that is not one of the tool. */
  isInner?: boolean | undefined;
  /** Somebody has approved the call elsewhere. That counts once, and only for what they were asked about. */
  isApproved?: boolean | undefined;
  /** The approval may be about more than this call: it counts only if this agent asked about it. */
  isAboutMore?: boolean | undefined;
}
