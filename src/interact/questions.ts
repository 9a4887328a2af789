import { PlugboardError, isPlugboardError } from "../errors.ts";
import type { Emit, QuestionAnswered } from "../events.ts";
import { untilAborted } from "../lib/abortable.ts";
import { startDeadline } from "../lib/deadline.ts";
import type {
  ApproveQuestion,
  ElicitQuestion,
  LogInQuestion,
  RootsQuestion,
  SampleQuestion,
} from "./interact.ts";

/** Everything that may be asked. */
export type Question = ApproveQuestion | ElicitQuestion | SampleQuestion | RootsQuestion | LogInQuestion;

/** What a question is about. */
export interface Asking {
  server: string;
  caller?: string | undefined;
  account?: string | undefined;
  /** The call during which it is asked. */
  call?: string | undefined;
  /** How long it stays open, if not as long as others. */
  deadlineMs?: number | undefined;
}

/** A question that nobody has answered yet. */
export interface OpenQuestion extends Asking {
  id: string;
  kind: Question["kind"];
  /** Milliseconds since the epoch. */
  at: number;
  question: Question;
}

interface Open extends OpenQuestion {
  settle(answer: unknown): void;
  /** What is wrong with an answer, if anything. */
  mistakeIn(answer: unknown): string | undefined;
}

export interface QuestionSettings {
  emit: Emit;
  now(): number;
  /** How long a question stays open, so that no server waits forever. */
  deadlineMs?: number | undefined;
}

/** What the event about an answer says of it. */
export type Outcome = Pick<QuestionAnswered, "outcome" | "decision" | "remembered" | "notKept">;

/** How long a question may stay open. */
export const questionMs = 600_000;

/** The open questions. Each can be answered by the `Interact` that was asked, or through the hub. */
export class Questions {
  readonly #settings: QuestionSettings;
  readonly #open = new Map<string, Open>();
  readonly #closing = new AbortController();

  constructor(settings: QuestionSettings) {
    this.#settings = settings;
  }

  list(): OpenQuestion[] {
    return [...this.#open.values()].map(
      ({ settle: _settle, mistakeIn: _mistakeIn, ...question }) => question,
    );
  }

  /** Answers an open question instead of the `Interact` that was asked. */
  answer(id: string, answer: unknown): void {
    const open = this.#open.get(id);
    if (!open) {
      const hint =
        "It was already answered, was cancelled or never existed; `hub.questions()` lists the open questions.";
      throw new PlugboardError("usage-invalid", `There is no open question "${id}".`, { hint });
    }
    const mistake = open.mistakeIn(answer);
    if (mistake !== undefined)
      throw new PlugboardError(
        "usage-invalid",
        `This is not a valid answer to "${open.server}": ${mistake}.`,
        {
          server: open.server,
          hint: "Nothing was sent, and the question is still open: answer it again.",
        },
      );
    open.settle(answer);
  }

  /** Ends all that are open, and every later one. */
  close(): void {
    this.#closing.abort();
  }

  /** Asks a question and emits an event before and after, so that observers can see what is waiting for an answer. */
  async ask<Q extends Question, A>(
    question: Q,
    asking: Asking,
    ask: (question: Q, signal: AbortSignal) => Promise<A>,
    outer: AbortSignal | undefined,
    outcomeOf: (answer: A) => Outcome | Promise<Outcome> = () => ({ outcome: "accepted" }),
    check?: (answer: A) => string | undefined,
  ): Promise<A> {
    const { emit, now } = this.#settings;
    const deadlineMs = asking.deadlineMs ?? this.#settings.deadlineMs ?? questionMs;
    const { id, kind } = question;
    if (this.#closing.signal.aborted) throw withdrawn(asking, kind, this.#closing.signal.reason);
    const about = eventFields(asking);
    const answered = Promise.withResolvers<A>();
    const over = new AbortController();
    using deadline = startDeadline(deadlineMs);
    const signals = [over.signal, this.#closing.signal, deadline.signal, ...(outer ? [outer] : [])];
    const open: Open = {
      ...asking,
      id,
      kind,
      at: now(),
      question,
      settle: (answer) => answered.resolve(answer as A),
      mistakeIn: (answer) =>
        isValidAnswer(kind, answer)
          ? check?.(answer as A)
          : `it does not have the shape of an answer to a question of kind "${kind}"`,
    };
    this.#open.set(id, open);
    const tool = question.kind === "approve" ? { tool: question.toolId } : {};
    emit({ type: "question-asked", question: id, kind, ...about, ...tool, at: open.at });
    let outcome: Outcome = { outcome: "cancelled" };
    try {
      const signal = AbortSignal.any(signals);
      const answer = await untilAborted(Promise.race([ask(question, signal), answered.promise]), signal);
      const mistake = check && open.mistakeIn(answer);
      if (mistake !== undefined) throw wrongAnswer(asking, mistake, kind);
      outcome = await outcomeOf(answer);
      return answer;
    } catch (error) {
      if (isPlugboardError(error, "approval-pending")) outcome = { outcome: "waiting" };
      const isOver = outer?.aborted || this.#closing.signal.aborted;
      if (isOver) throw withdrawn(asking, kind, outer?.reason ?? error);
      throw deadline.signal.aborted ? unanswered(asking, deadlineMs) : error;
    } finally {
      this.#open.delete(id);
      over.abort();
      emit({ type: "question-answered", question: id, kind, ...about, ...outcome, at: now() });
    }
  }
}

/** Nobody wants the answer any more. An approval comes before anything is sent. */
export function withdrawn(
  { server }: Pick<Asking, "server">,
  kind: Question["kind"],
  cause: unknown,
): PlugboardError {
  const executed = kind === "approve" ? "no" : "maybe";
  return new PlugboardError("call-cancelled", `The question about "${server}" was withdrawn.`, {
    server,
    cause,
    executed,
  });
}

/** Whoever answered has made a mistake; the server hears nothing of the answer. */
export function wrongAnswer(
  { server }: Pick<Asking, "server">,
  mistake: string,
  kind: Question["kind"] = "elicit",
): PlugboardError {
  const isApproval = kind === "approve";
  const about = isApproval ? `The question about "${server}"` : `A question of "${server}"`;
  return new PlugboardError("usage-invalid", `${about} did not get a valid answer: ${mistake}.`, {
    server,
    hint: isApproval
      ? 'Nothing was sent. `interact.approve` returns { decision: "allow" }, { decision: "deny" } or { decision: "cancel" }.'
      : "Nothing was sent. An answer to a form has to match its schema.",
    executed: isApproval ? "no" : "maybe",
  });
}

export function unanswered({ server }: Pick<Asking, "server">, deadlineMs: number): PlugboardError {
  const message = `Nobody answered the question about "${server}" within ${deadlineMs / 60_000} minutes.`;
  return new PlugboardError("question-declined", message, { server });
}

function eventFields({ server, caller, account, call }: Asking) {
  return {
    server,
    ...(caller !== undefined && { caller }),
    ...(account !== undefined && { account }),
    ...(call !== undefined && { call }),
  };
}

/** Checks the parts of an answer that decide what happens next. */
function isValidAnswer(kind: Question["kind"], answer: unknown): boolean {
  if (kind === "log-in") return answer === undefined || typeof answer === "object";
  if (typeof answer !== "object" || answer === null) return false;
  if (kind === "approve") return isApproval(answer);
  if (kind === "elicit")
    return "action" in answer && ["accept", "decline", "cancel"].includes(String(answer.action));
  return kind === "roots" ? Array.isArray(answer) : !Array.isArray(answer);
}

function isApproval(answer: object): boolean {
  const { decision, remember, reason, hint } = answer as {
    [field in "decision" | "remember" | "reason" | "hint"]?: unknown;
  };
  if ([reason, hint].some((words) => words !== undefined && typeof words !== "string")) return false;
  if (decision !== "allow") return (decision === "deny" || decision === "cancel") && remember === undefined;
  return remember === undefined || remember === "session" || remember === "always";
}
