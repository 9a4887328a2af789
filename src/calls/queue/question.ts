import type { ToolEntry } from "../../catalog/tool-entry.ts";
import type { ApproveQuestion } from "../../interact/interact.ts";
import { canonicalJson, sha256 } from "../../lib/canonical.ts";
import { isRecord } from "../../lib/record.ts";
import type { KeptApproval } from "./parking.ts";

/** A call that waits until somebody approves it, and what they are asked. JSON-safe. */
export interface WaitingQuestion extends Omit<ApproveQuestion, "kind"> {
  caller?: string;
  account?: string;
  /** The arguments as they will be sent, where JavaScript would change their numbers. */
  exact?: string;
  /** A hash over the tool's definition as its server sent it. */
  definition: string;
  /** A hash over caller, account, server, tool, definition and arguments. An answer is good for exactly this. */
  digest: string;
  /** Milliseconds since the epoch. */
  createdAt: number;
  expiresAt: number;
}

/** A question as it is stored. */
export interface KnownQuestion {
  question: WaitingQuestion;
  /** For whoever goes on with the call. */
  kept?: unknown;
  /** What is remembered if the answer says so, and the process for whose session. */
  record?: unknown;
  asker?: string;
}

/** What became of a question. */
export type QuestionState = "waiting" | "approved" | "denied" | "expired" | "gone" | "used";

/** The answer to a question, or why there will be none. Written once; an approval becomes `used` with its call. */
export interface StoredVerdict {
  state: Exclude<QuestionState, "waiting">;
  approval?: KeptApproval;
  /** What the answer is about. */
  digest?: string;
  at: number;
}

/** What lists and limits need to know of a question without reading it. */
export interface QuestionMark {
  owner: string;
  expiresAt: number;
  /** The lease of the process whose request waits; absent if the client holds a state or a task. */
  waiter?: string;
  /** Its verdict is being written. Those who wait look for it, because who writes it may end before telling them. */
  isSettling?: true;
}

/** What a call is, for somebody who approves it. */
export interface AskedCall {
  tool: ToolEntry;
  args: Record<string, unknown>;
  /** See `WaitingQuestion`. */
  exact: string | undefined;
  /** A hash over the server's entry. Another one under its name is another server. */
  entry: string;
  caller: string | undefined;
  account: string | undefined;
}

export function definitionHash({ raw }: Pick<ToolEntry, "raw">): string {
  return sha256(canonicalJson(raw));
}

export function digestOf({ tool, args, exact, entry, caller, account }: AskedCall): string {
  const { server, name, id, annotations } = tool;
  const whose = [caller ?? null, account ?? null];
  // The configuration can correct annotations, so that people are shown others than those of the definition.
  const defined = [definitionHash(tool), annotations];
  return sha256(canonicalJson([whose, server, entry, name, id, defined, args, exact ?? null]));
}

/** Undefined for a record of another version of the program. */
export function parseQuestion(value: unknown): KnownQuestion | undefined {
  if (!isRecord(value) || !isRecord(value["question"])) return undefined;
  const { question } = value;
  const isSound =
    ["id", "server", "tool", "toolId", "because", "definition", "digest"].every(
      (field) => typeof question[field] === "string",
    ) &&
    isRecord(question["arguments"]) &&
    isRecord(question["annotations"]) &&
    isRecord(question["remember"]) &&
    typeof question["createdAt"] === "number" &&
    typeof question["expiresAt"] === "number";
  return isSound ? (value as unknown as KnownQuestion) : undefined;
}

export function parseMark(value: unknown): QuestionMark | undefined {
  const isSound =
    isRecord(value) && typeof value["owner"] === "string" && typeof value["expiresAt"] === "number";
  return isSound ? (value as unknown as QuestionMark) : undefined;
}

export function parseVerdict(value: unknown): StoredVerdict | undefined {
  const states: unknown[] = ["approved", "denied", "expired", "gone", "used"] satisfies QuestionState[];
  return isRecord(value) && states.includes(value["state"]) ? (value as unknown as StoredVerdict) : undefined;
}
