import { PlugboardError, isPlugboardError } from "../../errors.ts";
import { ruleOrigin } from "../../config/approval/origin.ts";
import { formatPath } from "../../config/documents/document.ts";
import type { Approval, ApproveQuestion } from "../../interact/interact.ts";
import type { Outcome } from "../../interact/questions.ts";
import type { ToolEntry } from "../../catalog/tool-entry.ts";
import type { ApprovalQueue } from "../queue/queue.ts";
import { asSent } from "../serializable.ts";
import type { Approvable, ApproveContext, Verdict } from "../approve.ts";
import { identified } from "./identified.ts";
import type { Need } from "./need.ts";
import { subjectOf } from "./record.ts";
import type { ApprovalSubject } from "./record.ts";
import { forgottenWords, subjectCovers } from "./words.ts";

/** Asks whether a call may be made, and remembers the answer for as long as it says. */
export async function ask(given: Approvable, need: Need, context: ApproveContext): Promise<Verdict> {
  const { tool, call } = given;
  const { questions, queue, scope, approvals } = context.context;
  const { interact, caller } = scope.use;
  const { account } = call.route.key;
  const { exact, parking, onProgress, approve } = context.waiting;
  const present = approve ?? interact?.approve?.bind(interact);
  if (!present && !queue.isOn) throw refused(tool, `${need.because}, and nobody is there to ask`);
  const asked = await identified(given, context);
  const subject = subjectOf(asked, need.when);
  const later = present
    ? undefined
    : queue.later({
        tool,
        args: asked.args,
        entry: await approvals.printOf(subject),
        exact,
        parking,
        onProgress,
        caller,
        account,
        refused: (...why) => refused(tool, ...why),
      });
  const answering = present ?? later?.ask;
  if (!answering) throw refused(tool, `${need.because}, and nobody is there to ask`);
  const question = questionOf(asked, need, subject, context, later?.id);
  if (later)
    await later.park(question, need.upTo === "never" ? undefined : await approvals.recordOf(subject));
  const answer = await questions
    .ask(
      question,
      { server: tool.server, caller, account, call: call.id, deadlineMs: later?.deadlineMs },
      // Somebody may allow it while they are asked about another call.
      (shown, signal) => approvals.orAllowed(subject, need.upTo, answering(shown, signal)),
      context.signal(),
      async (answered: Approval & { isKept?: boolean }): Promise<Outcome> => {
        const { decision, isKept } = answered;
        if (answered.decision !== "allow" || answered.remember === undefined)
          return { outcome: outcomes[decision], decision };
        const { remember } = answered;
        if (isKept) await approvals.readAgain();
        const kept = isKept ? { remembered: remember } : await approvals.keep(subject, remember, need);
        return { outcome: "accepted", decision, ...kept };
      },
      () => undefined,
    )
    .catch((error: unknown) => {
      if (isPlugboardError(error, "question-declined")) throw refused(tool, "nobody answered in time");
      throw error;
    });
  assertAllowed(tool, answer);
  return { tool, by: "answer", target: asked.target, isExact: later !== undefined };
}

/**
 * Ends the question about a call that something else allows, for instance an answer about another call: nobody has to
 * answer it any more. Throws if somebody has denied this very call.
 */
export async function endQuestion(tool: ToolEntry, id: string, queue: ApprovalQueue): Promise<void> {
  await queue.withdraw(id);
  const denial = await queue.denial(id);
  if (denial) assertAllowed(tool, denial);
}

function assertAllowed(tool: ToolEntry, answer: Approval): void {
  const { decision, reason } = answer;
  if (decision === "cancel") throw turnCancelled(tool, reason);
  if (decision === "deny") throw refused(tool, reason ?? "it was denied", answer.hint);
}

const outcomes = { allow: "accepted", deny: "declined", cancel: "cancelled" } as const;

function questionOf(
  { tool, args, call }: Approvable,
  { because, rules: [rule], upTo }: Need,
  subject: ApprovalSubject,
  { context: { approvals } }: ApproveContext,
  own: string = crypto.randomUUID(),
): ApproveQuestion {
  const { server, name, id, title, annotations } = tool;
  const covers = subjectCovers(subject);
  const forgotten = forgottenWords(approvals.recall(subject, upTo), approvals.problem);
  return {
    kind: "approve",
    id: own,
    server,
    tool: name,
    toolId: id,
    ...(title !== undefined && { title }),
    // A copy: what somebody does with the question must not change the call.
    arguments: asSent(args),
    annotations,
    because,
    ...(rule && { rule: { path: formatPath(rule.path), ...ruleOrigin(rule, server, call.route.loaded) } }),
    remember: {
      ...(upTo !== "never" && { session: `${covers}, until this program ends` }),
      ...(upTo === "always" &&
        approvals.isLasting(subject) && {
          always: `${covers}, until you revoke it or the server or the tool changes`,
        }),
    },
    ...(forgotten !== undefined && { forgotten }),
  };
}

function refused({ server, id, name }: ToolEntry, why: string, hint?: string): PlugboardError {
  return new PlugboardError(
    "approval-denied",
    `The call of ${name} on "${server}" was not approved: ${why}.`,
    { server, tool: id, hint },
  );
}

/** Whoever was asked wants nothing more to happen in this turn. */
function turnCancelled({ server, id, name }: ToolEntry, reason: string | undefined): PlugboardError {
  const why = reason === undefined ? "" : `: ${reason}`;
  return new PlugboardError("call-cancelled", `The call of ${name} on "${server}" was cancelled${why}.`, {
    server,
    tool: id,
    executed: "no",
    data: { reason: "turn-cancelled" },
    advice: "The person who was asked ended the turn. Make no further calls until they say something.",
  });
}
