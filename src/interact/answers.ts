import type { Emit, QuestionAnswered, QuestionAsked } from "../events.ts";
import { isRecord } from "../lib/record.ts";
import { withDefaults } from "./form-defaults.ts";
import type { ElicitAnswer, ElicitQuestion, Interact } from "./interact.ts";

/** A JSON-RPC error to answer a server's request with. */
export class Refusal extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export interface AnswerSettings {
  interact: Interact;
  /** `decline` answers elicitation without asking anybody. */
  elicitationMode(server: string): "ask" | "decline";
  emit: Emit;
  now(): number;
  /** Nobody may keep a server waiting for ever. */
  deadlineMs?: number;
}

export type AnswerServer = (
  server: string,
  method: string,
  params: Record<string, unknown>,
  signal: AbortSignal,
) => Promise<Record<string, unknown>>;

const defaultDeadlineMs = 600_000;

/** Answers what a server asks, pushed by a legacy one or required by a modern one: the same questions, one place. */
export function createAnswers(settings: AnswerSettings): AnswerServer {
  const { interact, deadlineMs = defaultDeadlineMs } = settings;
  return async (server, method, params, outer) => {
    const signal = AbortSignal.any([outer, AbortSignal.timeout(deadlineMs)]);
    const id = crypto.randomUUID();
    switch (method) {
      case "elicitation/create": {
        const question = readElicitation(id, server, params);
        if (!interact.elicit || settings.elicitationMode(server) === "decline") return { action: "decline" };
        const { elicit } = interact;
        const answer = await told(
          settings,
          { id, server, kind: "elicit" },
          () => elicit(question, signal),
          outcomeOf,
        );
        return accepted(question, answer);
      }
      case "sampling/createMessage": {
        const { sample } = interact;
        if (!sample) throw new Refusal(-32_601, "Sampling is not supported");
        return told(settings, { id, server, kind: "sample" }, () =>
          sample({ kind: "sample", id, server, params }, signal),
        );
      }
      case "roots/list": {
        const { roots } = interact;
        if (!roots) throw new Refusal(-32_601, "Roots are not supported");
        return {
          roots: await told(settings, { id, server, kind: "roots" }, () =>
            roots({ kind: "roots", id, server }, signal),
          ),
        };
      }
      default:
        throw new Refusal(-32_601, "Method not found");
    }
  };
}

/** Asks between two events, so that everybody can see that something waits for an answer. */
async function told<T>(
  { emit, now }: AnswerSettings,
  question: { id: string; server: string; kind: QuestionAsked["kind"] },
  ask: () => Promise<T>,
  outcome: (answer: T) => QuestionAnswered["outcome"] = () => "accepted",
): Promise<T> {
  const { id, server, kind } = question;
  emit({ type: "question-asked", question: id, kind, server, at: now() });
  let result: QuestionAnswered["outcome"] = "cancelled";
  try {
    const answer = await ask();
    result = outcome(answer);
    return answer;
  } finally {
    emit({ type: "question-answered", question: id, server, outcome: result, at: now() });
  }
}

function outcomeOf({ action }: ElicitAnswer): QuestionAnswered["outcome"] {
  return action === "accept" ? "accepted" : action === "decline" ? "declined" : "cancelled";
}

function readElicitation(id: string, server: string, params: Record<string, unknown>): ElicitQuestion {
  const { message, requestedSchema, url, elicitationId } = params;
  const asked = { kind: "elicit" as const, id, server, message: typeof message === "string" ? message : "" };
  if (params["mode"] === "url") {
    if (typeof url !== "string" || !isSafeUrl(url))
      throw new Refusal(-32_602, "The URL is not one that may be shown");
    return { ...asked, mode: "url", url, ...(typeof elicitationId === "string" && { elicitationId }) };
  }
  return {
    ...asked,
    mode: "form",
    schema: isRecord(requestedSchema) ? requestedSchema : { type: "object", properties: {} },
  };
}

/** A page for a person: nothing that runs code or reads files. */
function isSafeUrl(text: string): boolean {
  const url = URL.parse(text);
  if (!url) return false;
  const isLoopback = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback);
}

function accepted(question: ElicitQuestion, answer: ElicitAnswer): Record<string, unknown> {
  if (answer.action !== "accept") return { action: answer.action };
  if (question.mode === "url") return { action: "accept" };
  return { action: "accept", content: withDefaults(question.schema, answer.content ?? {}) };
}
