import type { QuestionAnswered } from "../events.ts";
import { isRecord } from "../lib/record.ts";
import { isSafeUrl } from "../lib/safe-url.ts";
import type { ElicitAnswer, ElicitQuestion, Interact } from "./interact.ts";
import type { Asking, Questions } from "./questions.ts";

/** A JSON-RPC error to send in response to a server's request. */
export class Refusal extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export interface AnswerSettings {
  questions: Questions;
  /** `decline` answers elicitations without asking anyone. */
  elicitationMode(server: string): "ask" | "decline";
}

/** A request from a server, and its context. */
export interface AskedOf {
  asking: Asking;
  interact: Interact;
  method: string;
  params: Record<string, unknown>;
  signal?: AbortSignal | undefined;
}

export type AnswerServer = (asked: AskedOf) => Promise<Record<string, unknown>>;

/**
 * Answers requests from servers, whether a legacy server pushes them or a modern one requires them. A request that the
 * host has no method for is refused, never answered on the user's behalf.
 */
export function createAnswers({ questions, elicitationMode }: AnswerSettings): AnswerServer {
  return async ({ asking, interact, method, params, signal }) => {
    const { server } = asking;
    const id = crypto.randomUUID();
    switch (method) {
      case "elicitation/create": {
        if (elicitationMode(server) === "decline") return { action: "decline" };
        const question = readElicitation(id, server, params);
        if (!interact.elicit) throw new Refusal(-32_601, "Elicitation is not supported");
        const ask = interact.elicit.bind(interact);
        return accepted(question, await questions.ask(question, asking, ask, signal, outcomeOf));
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

function outcomeOf({ action }: ElicitAnswer): QuestionAnswered["outcome"] {
  return action === "accept" ? "accepted" : action === "decline" ? "declined" : "cancelled";
}

function readElicitation(id: string, server: string, params: Record<string, unknown>): ElicitQuestion {
  const { message, requestedSchema, url, elicitationId } = params;
  const asked = { kind: "elicit" as const, id, server, message: typeof message === "string" ? message : "" };
  if (params["mode"] === "url") {
    if (typeof url !== "string" || !isSafeUrl(url)) throw new Refusal(-32_602, "The URL is not safe to show");
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

function accepted(question: ElicitQuestion, answer: ElicitAnswer): Record<string, unknown> {
  if (answer.action !== "accept") return { action: answer.action };
  if (question.mode === "url") return { action: "accept" };
  return { action: "accept", content: withDefaults(question.schema, answer.content ?? {}) };
}

/** Fills in the form's defaults for fields that the person left out. */
function withDefaults(
  schema: Record<string, unknown>,
  content: Record<string, unknown>,
): Record<string, unknown> {
  const { properties } = schema;
  if (!isRecord(properties)) return content;
  const filled: Record<string, unknown> = { ...content };
  for (const [name, field] of Object.entries(properties)) {
    if (filled[name] === undefined && isRecord(field) && field["default"] !== undefined)
      filled[name] = field["default"];
  }
  return filled;
}
