import { RpcFailure, fieldsOf, isFields, missingCapability, type Fields, type Question } from "./wire.ts";

/** What a tool, prompt or resource may do while it is used. It is the same in both eras. */
export interface Call {
  readonly args: Fields;
  readonly signal: AbortSignal;
  /** True if the client declared this capability. */
  can(capability: string): boolean;
  /** Asks the client, all at once. A modern client is asked by the answer to its request, which it then repeats. */
  ask<Key extends string>(questions: Record<Key, Question>): Promise<Record<Key, Fields>>;
  log(data: string): void;
  progress(progress: number, total: number): void;
  /** Does the rest as a task if the client knows tasks, or asks for one, otherwise before the answer. */
  later(work: (call: Call) => Promise<Fields>, options?: { required?: boolean }): Promise<Fields>;
}

/** Thrown to end a modern request with `input_required`. */
export class InputRequired extends Error {
  readonly questions: Record<string, Question>;
  /** What was answered in earlier rounds. */
  readonly answers: Record<string, Fields>;

  constructor(questions: Record<string, Question>, answers: Record<string, Fields>) {
    super("input required");
    this.questions = questions;
    this.answers = answers;
  }
}

const capabilityOf = {
  "elicitation/create": "elicitation",
  "sampling/createMessage": "sampling",
  "roots/list": "roots",
} as const;

/** Refuses questions for which the client declared no capability. */
export function checkCapabilities(questions: Record<string, Question>, can: Call["can"]): void {
  const missing = Object.values(questions)
    .map(({ method }) => capabilityOf[method])
    .filter((capability) => !can(capability));
  if (missing.length > 0) throw missingCapability(Object.fromEntries(missing.map((name) => [name, {}])));
}

/** Answers a modern call's questions from the parameters of the request, or ends it with those that are open. */
export function modernAsk(given: unknown, before: Record<string, Fields>, can: Call["can"]): Call["ask"] {
  if (given !== undefined && !isFields(given))
    throw new RpcFailure(-32602, "inputResponses is not an object");
  const responses = fieldsOf(given);
  return async (questions) => {
    checkCapabilities(questions, can);
    const open: Record<string, Question> = {};
    for (const [key, question] of Object.entries<Question>(questions)) {
      const response = before[key] ?? responses[key];
      if (isAnswer(question, response)) before[key] = response;
      else open[key] = question;
    }
    if (Object.keys(open).length > 0) throw new InputRequired(open, before);
    return before;
  };
}

export function isAnswer({ method }: Question, value: unknown): value is Fields {
  if (!isFields(value)) return false;
  if (method === "roots/list") return Array.isArray(value["roots"]);
  return typeof value[method === "elicitation/create" ? "action" : "role"] === "string";
}
