import { untilAborted } from "../lib/abortable.ts";
import { startDeadline } from "../lib/deadline.ts";
import { methodStanding } from "../lib/protocol-method.ts";
import { isRecord } from "../lib/record.ts";
import { isSafeUrl } from "../lib/safe-url.ts";
import type { ElicitationCompletions } from "./completions.ts";
import type { ElicitAnswer, ElicitQuestion, Interact } from "./interact.ts";
import { questionMs, unanswered, withdrawn, wrongAnswer } from "./questions.ts";
import type { Asking, Outcome, Questions } from "./questions.ts";

/** A JSON-RPC error to send in response to a server's request. */
export class Refusal extends Error {
  readonly code: number;
  readonly data: unknown;
  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export interface AnswerSettings {
  questions: Questions;
  completions: ElicitationCompletions;
  /** `decline` answers elicitations without asking anyone. */
  elicitationMode(server: string): "ask" | "decline";
  mistakeIn: MistakeIn;
}

/** Says what is wrong with a value, in words; undefined if it matches the schema. */
export type MistakeIn = (schema: Record<string, unknown>, value: unknown) => string | undefined;

/** A request from a server, and its context. */
export interface AskedOf {
  asking: Asking;
  interact: Interact;
  method: string;
  params: Record<string, unknown>;
  signal?: AbortSignal | undefined;
  /** See `Question`. */
  stepAside?: (() => void) | undefined;
  /** Whoever made the request answers by itself, in place of `interact`. */
  onQuestion?: ((question: PassedQuestion) => Promise<Record<string, unknown>>) | undefined;
}

export type AnswerServer = (asked: AskedOf) => Promise<Record<string, unknown>>;

/**
 * Answers requests from servers, whether a legacy server pushes them or a modern one requires them. A request that the
 * host has no method for is refused, never answered on the user's behalf.
 */
export function createAnswers(settings: AnswerSettings): AnswerServer {
  const { questions, completions, elicitationMode, mistakeIn } = settings;
  return async ({ asking, interact, method, params, signal, stepAside, onQuestion }) => {
    const { server } = asking;
    if (onQuestion)
      return passQuestion(
        server,
        { method, params, signal: signal ?? new AbortController().signal, stepAside },
        onQuestion,
        settings,
      );
    const id = crypto.randomUUID();
    switch (method) {
      case "elicitation/create": {
        if (elicitationMode(server) === "decline") return { action: "decline" };
        const question = readElicitation(id, server, params);
        if (!interact.elicit) throw new Refusal(-32_601, "Elicitation is not supported");
        const elicit = interact.elicit.bind(interact);
        // The server knows when somebody is done with its page, and may say so before they do.
        const ask = async (asked: ElicitQuestion, until: AbortSignal): Promise<ElicitAnswer> => {
          if (asked.mode !== "url" || asked.elicitationId === undefined) return elicit(asked, until);
          const done = completions.wait(server, asked.elicitationId, until);
          return Promise.race([elicit(asked, until), done.then(() => ({ action: "accept" as const }))]);
        };
        const check = (answer: ElicitAnswer) => formMistake(question, answer, mistakeIn);
        return sent(question, await questions.ask(question, asking, ask, signal, outcomeOf, check));
      }
      case "sampling/createMessage": {
        if (!interact.sample) throw new Refusal(-32_601, "Sampling is not supported");
        const ask = interact.sample.bind(interact);
        return questions.ask({ kind: "sample", id, server, params }, asking, ask, signal);
      }
      case "roots/list": {
        if (!interact.roots) throw new Refusal(-32_601, "Roots are not supported");
        const ask = interact.roots.bind(interact);
        return { roots: await questions.ask({ kind: "roots", id, server }, asking, ask, signal) };
      }
      default:
        throw new Refusal(-32_601, "Method not found");
    }
  };
}

/**
 * Lets somebody else's handler answer, under the same rules: what config declines is declined, no unsafe page is shown, and
 * nothing but a valid answer to a form is sent.
 */
async function passQuestion(
  server: string,
  question: PassedQuestion,
  onQuestion: (question: PassedQuestion) => Promise<Record<string, unknown>>,
  { elicitationMode, mistakeIn }: Pick<AnswerSettings, "elicitationMode" | "mistakeIn">,
): Promise<Record<string, unknown>> {
  const { method, params, stepAside } = question;
  // Another spelling of a question must not get around what is decided about it.
  if (!questionMethods.has(method) && methodStanding(method, "request") === "known")
    throw new Refusal(-32_601, "Method not found");
  const configured = configuredAnswer(question, elicitationMode(server));
  if (configured) return configured;
  using deadline = startDeadline(questionMs);
  const signal = AbortSignal.any([question.signal, deadline.signal]);
  const answer = await untilAborted(onQuestion({ method, params, signal, stepAside }), signal).catch(
    (error: unknown) => {
      if (question.signal.aborted) throw withdrawn({ server }, "elicit", question.signal.reason);
      throw deadline.signal.aborted ? unanswered({ server }, questionMs) : error;
    },
  );
  const mistake = answerMistake({ method, params }, answer, mistakeIn);
  if (mistake !== undefined) throw wrongAnswer({ server }, mistake);
  return answer;
}

/** What is wrong with the answer to a form, in words; undefined for every other question. */
export function answerMistake(
  { method, params: { requestedSchema } }: Pick<PassedQuestion, "method" | "params">,
  answer: Record<string, unknown>,
  mistakeIn: MistakeIn,
): string | undefined {
  if (method !== elicitation || !isRecord(requestedSchema) || answer["action"] !== "accept") return undefined;
  return mistakeIn(requestedSchema, answer["content"] ?? {});
}

const elicitation = "elicitation/create";
const questionMethods: ReadonlySet<string> = new Set([elicitation, "sampling/createMessage", "roots/list"]);

/** The answer to a question that nobody is asked, because the configuration says so. Throws for an unsafe page. */
export function configuredAnswer(
  { method, params: { mode, url } }: Pick<PassedQuestion, "method" | "params">,
  elicitationMode: "ask" | "decline",
): Record<string, unknown> | undefined {
  if (method !== elicitation) return undefined;
  if (elicitationMode === "decline") return { action: "decline" };
  if (mode === "url" && !(typeof url === "string" && isSafeUrl(url))) throw unsafeUrl();
  return undefined;
}

interface PassedQuestion {
  method: string;
  params: Record<string, unknown>;
  signal: AbortSignal;
  stepAside?: (() => void) | undefined;
}

function outcomeOf({ action }: ElicitAnswer): Outcome {
  return { outcome: action === "accept" ? "accepted" : action === "decline" ? "declined" : "cancelled" };
}

function readElicitation(id: string, server: string, params: Record<string, unknown>): ElicitQuestion {
  const { message, requestedSchema, url, elicitationId } = params;
  const asked = { kind: "elicit" as const, id, server, message: typeof message === "string" ? message : "" };
  if (params["mode"] === "url") {
    if (typeof url !== "string" || !isSafeUrl(url)) throw unsafeUrl();
    return {
      ...asked,
      mode: "url",
      url,
      ...(typeof elicitationId === "string" && { elicitationId }),
      params,
    };
  }
  return {
    ...asked,
    mode: "form",
    schema: isRecord(requestedSchema) ? requestedSchema : { type: "object", properties: {} },
    params,
  };
}

function unsafeUrl(): Refusal {
  return new Refusal(-32_602, "The URL is not safe to show");
}

/** What is wrong with an answer to a form, if anything. Nothing but a valid one is sent. */
function formMistake(
  question: ElicitQuestion,
  answer: ElicitAnswer,
  mistakeIn: MistakeIn,
): string | undefined {
  if (question.mode === "url" || answer.action !== "accept") return undefined;
  return mistakeIn(question.schema, sent(question, answer)["content"]);
}

/** Sends exactly the content of the answer: a field that a person cleared is not sent as its default. */
function sent(question: ElicitQuestion, answer: ElicitAnswer): Record<string, unknown> {
  if (answer.action !== "accept") return { action: answer.action };
  if (question.mode === "url") return { action: "accept" };
  return { action: "accept", content: answer.content ?? defaultsOf(question.schema) };
}

function defaultsOf({ properties }: Record<string, unknown>): Record<string, unknown> {
  const fields = isRecord(properties) ? Object.entries(properties) : [];
  const defaults = fields.flatMap(([name, field]) =>
    isRecord(field) && field["default"] !== undefined ? [[name, field["default"]] as const] : [],
  );
  return Object.fromEntries(defaults);
}
