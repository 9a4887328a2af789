import { PlugboardError } from "../../errors.ts";
import { shellWord } from "../../lib/argv.ts";
import { nameText } from "../../lib/name-text.ts";
import type { Progress } from "../../servers/rpc/messages.ts";
import type { QuestionState, WaitingQuestion } from "./question.ts";

/** Why a call that comes for its answer does not get one. */
export const stateWords: Record<QuestionState, string> = {
  waiting: "it still waits",
  approved: "its approval was for another call",
  denied: "it was denied",
  expired: "nobody answered in time",
  gone: "it was given up",
  used: "its approval was used already",
};

const overWords: Record<QuestionState, string> = {
  waiting: "still waits",
  approved: "was answered already: allowed",
  denied: "was answered already: denied",
  expired: "has expired",
  gone: "is over: its client gave up or is gone",
  used: "was answered already, and its call was sent",
};

/** The answer comes too late, or to nothing. */
export function overError(
  id: string,
  state: QuestionState | undefined,
  question?: Pick<WaitingQuestion, "server" | "toolId">,
): PlugboardError {
  const message =
    state === undefined
      ? `There is no question ${JSON.stringify(id.slice(0, 40))}.`
      : `The question ${id} ${overWords[state]}.`;
  const { server, toolId: tool } = question ?? {};
  return new PlugboardError("question-over", message, { server, tool, data: { state: state ?? "unknown" } });
}

/** The call can be made again later, for its answer. */
export function pending({ id, server, tool, toolId, expiresAt }: WaitingQuestion): PlugboardError {
  return new PlugboardError(
    "approval-pending",
    `The call of ${nameText(tool)} on "${server}" waits for approval.`,
    {
      server,
      tool: toolId,
      data: { question: id, expiresAt },
      hint: `Answer with \`plugboard approvals answer ${shellWord(id)} allow\` or \`deny\`.`,
    },
  );
}

/** The smallest steps, so that what the server says later is more. */
export function progressOf({ id, tool, server }: WaitingQuestion, step: number): Progress {
  const progress = step / 1_000_000;
  const message = `${nameText(tool)} on "${server}" waits for approval (${id})`;
  return { progress, message, params: { progress, message } };
}
