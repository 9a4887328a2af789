import type { ValueSources } from "../../config/expand.ts";
import type { Settings } from "../../config/schema.ts";
import type { PlugboardError } from "../../errors.ts";
import type { Emit } from "../../events.ts";
import type { Approval, ApproveQuestion, Remembering } from "../../interact/interact.ts";
import type { Progress } from "../../servers/rpc/messages.ts";
import type { Store } from "../../store/store.ts";
import type { ApprovalRecord } from "../approvals/record.ts";
import type { Kept } from "../approvals/remembered.ts";
import type { AskedCall, QuestionState, WaitingQuestion } from "./question.ts";

/** What a call that may be parked can be given. */
export interface Parking {
  /**
   * Reject with `approval-pending` if there is no answer after this time: `error.data.question` is the id to make the same
   * call again with. Without it the call waits until somebody answers.
   */
  leaveAfterMs?: number | undefined;
  /** With `leaveAfterMs`: true if it has to leave at once. */
  isLeaving?: (() => boolean) | undefined;
  /** With `leaveAfterMs`: only this process can come back for the answer, so the question ends with it. */
  isOurs?: boolean | undefined;
  /** The question that was asked about this very call before. */
  question?: string | undefined;
  /** The id of a new question, for somebody who has one already: a letter, `_` and 20 of a-z and 2-7. */
  id?: (() => string) | undefined;
  /** False if whoever called has left. Nothing is run for them. */
  isThere?: (() => boolean) | undefined;
  /** Returns what to keep with the question, for whoever goes on with the call later. JSON. */
  kept?: (() => unknown) | undefined;
}

export interface Waiting extends Omit<AskedCall, "exact"> {
  exact: (() => string | undefined) | undefined;
  parking: Parking | undefined;
  onProgress: ((progress: Progress) => void) | undefined;
  /** The error of a call that is not allowed. */
  refused(why: string, hint?: string): PlugboardError;
}

/** `isKept` if what is to be remembered was remembered when it was given, which may be long ago. */
export type KeptApproval = Approval & { isKept?: boolean };

export interface QueueSettings {
  store(): Promise<Store>;
  now(): number;
  emit: Emit;
  settings(): Settings;
  /** Refuse to park calls where only this process could see them. */
  mustBeShared: boolean;
  /** What the webhook needs. */
  sources: ValueSources;
  random(): number;
  /** Remembers an answer, in the process `asker` if it is for its session. */
  remember(record: ApprovalRecord, wanted: Remembering, asker: string | undefined): Promise<Kept>;
  onProblem(message: string): void;
}

/** What can answer in place of a person who is there. */
export interface LaterAnswer {
  id: string;
  deadlineMs: number;
  /** Stores the question, or finds it again. Throws if it cannot be asked. */
  park(question: ApproveQuestion, record: ApprovalRecord | undefined): Promise<void>;
  ask(question: ApproveQuestion, signal: AbortSignal): Promise<KeptApproval>;
}

/** A question about a call, and what became of it. */
export interface AnsweredQuestion extends Kept {
  question: WaitingQuestion;
  state: QuestionState;
}

/** A question about a call, with what was kept for whoever goes on with the call. */
export interface FoundQuestion extends AnsweredQuestion {
  /** What was kept with it. */
  kept?: unknown;
}
