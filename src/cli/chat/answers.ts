import type { ApproveQuestion, Interact } from "../../index.ts";
import { matchesAny } from "../../lib/glob.ts";
import { toolWord } from "../arguments/call-line.ts";
import { terminalAnswers } from "../terminal/answers.ts";
import type { AnswerOptions } from "../terminal/answers.ts";

export interface ChatAnswerOptions extends AnswerOptions {
  /** Tools that are allowed without a question, by id, `server.tool` or a pattern. */
  allow: readonly string[];
}

/** Answers what servers ask in a conversation, and approves calls. Sampling is declined: nobody offered the model to servers. */
export function chatAnswers(options: ChatAnswerOptions): Interact {
  const { allow, ...rest } = options;
  const interact = terminalAnswers(rest);
  const { approve } = interact;
  if (!approve && allow.length === 0) return interact;
  return {
    ...interact,
    approve: async (question, signal) => {
      if (isAllowed(question, allow)) return { decision: "allow" };
      if (!approve) return { decision: "deny", reason: `${question.because}, and --allow does not name it` };
      return approve(question, signal);
    },
  };
}

function isAllowed({ toolId, server, tool }: ApproveQuestion, allow: readonly string[]): boolean {
  return matchesAny(allow, toolId) || matchesAny(allow, toolWord({ id: toolId, server, name: tool }));
}
