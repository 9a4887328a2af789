import { PlugboardError } from "../../errors.ts";
import type { Approval } from "../../interact/interact.ts";
import { isRecord } from "../../lib/record.ts";
import type { WaitingQuestion } from "./question.ts";

/** An answer to a waiting question. */
export type ApprovalAnswer = Approval & {
  /** The `digest` of the question as it was shown: an answer to anything else is refused. */
  digest?: string | undefined;
};

/** What is wrong with an answer; the question still waits. */
export function mistakeIn(
  answer: unknown,
  question: Pick<WaitingQuestion, "id" | "digest" | "remember"> | undefined,
): PlugboardError | undefined {
  const { decision, remember, reason, digest } = isRecord(answer) ? answer : {};
  const hint =
    'Nothing was run. Answer { decision: "allow" }, { decision: "deny" } or { decision: "cancel" }.';
  const wrong = (message: string, own = hint) => new PlugboardError("usage-invalid", message, { hint: own });
  if (decision !== "allow" && decision !== "deny" && decision !== "cancel")
    return wrong("This is not an answer to a question about a call.");
  if (reason !== undefined && (typeof reason !== "string" || reason.length > 1_000))
    return wrong("The reason of an answer is a text of at most 1,000 characters.");
  const isRemembered = remember === undefined || remember === "session" || remember === "always";
  if (!isRemembered || (remember !== undefined && decision !== "allow"))
    return wrong("Only an answer that allows can be remembered: for the `session` or `always`.");
  if (remember !== undefined && question && question.remember[remember] === undefined)
    return wrong(
      `An answer to the question ${question.id} cannot be remembered ${remember === "always" ? "for good" : "for the session"}.`,
      "Nothing was run, and the question still waits: allow it once.",
    );
  if (digest !== undefined && question && digest !== question.digest)
    return wrong(
      `The answer is about another call than the question ${question.id}.`,
      "Nothing was run, and the question still waits: read it again, and answer what it shows.",
    );
  return undefined;
}
