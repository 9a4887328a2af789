import type { ElicitUrl } from "../../host.ts";
import type { Approval, ApproveQuestion, ElicitAnswer, Interact, LogInQuestion } from "../../index.ts";
import { askApproval } from "./approval.ts";
import type { Ask } from "./ask.ts";
import { fillForm } from "./elicitation-form.ts";
import { waysToLogIn } from "./login-ways.ts";
import type { Alone } from "./login-ways.ts";
import { saidLines } from "../views/said-lines.ts";
import { safe } from "./print.ts";
import type { Terminal } from "./terminal.ts";
import { displayWidth } from "./text-width.ts";

export interface AnswerOptions {
  terminal: Terminal;
  /** Approve without asking. */
  yes?: boolean;
  /** Without a terminal, leave approval to whoever answers later, because calls wait for it. */
  isQueued?: boolean;
  /** Offer a missing login right away. If false, the error names the command to run. */
  offersLogin: boolean;
  /** Called with true while a question is on screen, so nothing else is drawn. */
  onAsking?: (isAsking: boolean) => void;
  /** What the questions belong to. Once it is aborted, the one on screen is closed and no other one appears. */
  during?: () => AbortSignal | undefined;
  /** Called when the person cancels an approval or a form, before any other question can appear. */
  onCancel?: () => void;
}

/** Lets the person at the terminal answer, one question at a time. Without a terminal everything is declined. */
export function terminalAnswers(options: AnswerOptions): Interact {
  const { terminal, yes = false, isQueued = false, offersLogin, onAsking, during, onCancel } = options;
  const { ask } = terminal;
  let last: Promise<unknown> = Promise.resolve();
  const inTurn: Alone = (work) => {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  };
  const shown: Alone = async (work) => {
    onAsking?.(true);
    try {
      return await work();
    } finally {
      onAsking?.(false);
    }
  };
  /** Undefined if what the question belongs to is over before its turn comes. */
  const asked = <T extends Approval | ElicitAnswer>(
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T | undefined> => {
    const whole = during?.();
    const both = whole ? AbortSignal.any([signal, whole]) : signal;
    const ask = async () => {
      const answer = await work(both);
      const isCancelled = "decision" in answer ? answer.decision === "cancel" : answer.action === "cancel";
      if (isCancelled && !both.aborted) onCancel?.();
      return answer;
    };
    return inTurn(async () => (both.aborted ? undefined : shown(ask)));
  };
  const approve = async (question: ApproveQuestion, signal: AbortSignal): Promise<Approval> => {
    if (yes) return { decision: "allow" };
    if (!ask)
      return {
        decision: "deny",
        reason: `${question.because}, and nobody is there to ask`,
        hint: "Run the command in a terminal to be asked, or use --yes to allow it.",
      };
    // Somebody may have allowed it for longer while it waited for its turn.
    return (await asked(signal, (both) => askApproval(question, ask, both))) ?? { decision: "cancel" };
  };
  if (!ask) return isQueued && !yes ? {} : { approve };
  return {
    approve,
    elicit: async (question, signal) =>
      (await asked(signal, (both) =>
        question.mode === "form" ? fillForm(question, ask, both) : askToOpen(question, ask, both),
      )) ?? { action: "cancel" },
    ...(offersLogin && loginAnswers(terminal, (work) => inTurn(() => shown(work)))),
  };
}

/** Offers missing logins and declines everything else. */
export function loginAnswers(terminal: Terminal, alone: Alone = (work) => work()): Interact {
  const { ask } = terminal;
  if (!ask) return {};
  return {
    logIn: async (question, signal) =>
      (await alone(() => wantsToLogIn(question, ask, signal)))
        ? waysToLogIn(question.server, { alone }, terminal)
        : undefined,
  };
}

async function wantsToLogIn(question: LogInQuestion, ask: Ask, signal: AbortSignal): Promise<boolean> {
  const { server, profile, scopes, because } = question;
  const account = profile === "default" ? "" : ` as ${safe(profile)}`;
  const wanted = safe(scopes.join(" "));
  const isLong = displayWidth(wanted) > ask.width;
  const when = scopes.length === 0 ? "now" : isLong ? "again, for all of that" : `again, for ${wanted}`;
  const listed = isLong ? saidLines(scopes.join("\n"), { width: ask.width, isWhole: true }).lines : [];
  await ask.say([safe(because), ...listed].join("\n"));
  const message = `Log in to ${safe(server)}${account} ${when}?`;
  return (await ask.confirm({ message, initial: true }, signal)) ?? false;
}

/** Never opens the page itself: the person sees the address, agrees or declines, and opens it. */
async function askToOpen(
  { server, message, url }: ElicitUrl,
  ask: Ask,
  signal: AbortSignal,
): Promise<ElicitAnswer> {
  const host = safe(URL.parse(url)?.host ?? "?");
  for (let isWhole = false; ; isWhole = true) {
    const { lines, isCut } = saidLines(message, { width: ask.width, isWhole });
    await ask.say([`${safe(server)} asks you to visit a page on ${host}:`, ...lines, safe(url)].join("\n"));
    const choice = await ask.choose(
      {
        message: `Will you open it? It leads to ${host}.`,
        choices: [
          { value: "accept", label: "Yes", hint: "open the address above in your browser" },
          { value: "decline", label: "No", hint: "tell the server no" },
          ...(isCut ? [{ value: "whole", label: "Show everything", hint: "then ask again" }] : []),
        ],
      },
      signal,
    );
    if (choice !== "whole") return { action: (choice ?? "cancel") as ElicitAnswer["action"] };
  }
}
