import { PlugboardError } from "../errors.ts";
import { firstMistake } from "../catalog/schema/validate.ts";
import { Refusal, answerMistake, configuredAnswer } from "../interact/answers.ts";
import { isRecord } from "../lib/record.ts";
import type { JsonRpcAnswer, RawAnswer } from "../servers/rpc/messages.ts";
import { openPages, urlElicitations } from "./url-elicitation.ts";
import { parseExact } from "../lib/exact-json.ts";

export type AnswerInput = (
  method: string,
  params: Record<string, unknown>,
  /** Aborted when the answer no longer matters. */
  signal?: AbortSignal,
) => Promise<Record<string, unknown>>;

/** Sends a request and asks people what its server wants to know. */
export interface Inputs<A extends Answer = JsonRpcAnswer> {
  server: string;
  send(params: Record<string, unknown>): Promise<A>;
  /** True if the last answer came from a modern server: only there `resultType` means anything. */
  isModern(): boolean;
  answer: AnswerInput;
  /** A text without the server's credentials; undefined while they are not known. */
  redact?(text: string): string | undefined;
  /** A task may take the place of the result. */
  mayBeTask?: boolean;
  /** Resolves when the server has said that a page is done; rejects after a while, or when the request is given up. */
  completed(elicitationId: string): Promise<void>;
  /**
   * Somebody else's client is asked: everything at once, and what it does not agree to or nobody here understands is
   * handed back as it came.
   */
  isPassed?: boolean;
}

type Answer = JsonRpcAnswer | RawAnswer;

const maxRounds = 10;
/** How many inputs one answer may require. */
const maxInputs = 64;

/**
 * Sends a request, and again with what its server asks for. A modern server does not ask while it works; it returns an
 * input-required result, whose `requestState` is sent back unchanged. A legacy one may answer that somebody must open
 * a page first.
 */
export async function withInputs<A extends Answer>(
  params: Record<string, unknown>,
  inputs: Inputs<A>,
  /** The answer to what was sent already. */
  first?: A,
): Promise<A> {
  const { server, send } = inputs;
  const opened = new Set<string>();
  let again = params;
  for (let round = 0; ; round++) {
    const answer = (round === 0 ? first : undefined) ?? (await send(again));
    if (isFinal(answer, inputs.isModern())) return answer;
    const isOther = !("error" in answer) && typeOf(answer) !== inputRequired;
    if (isOther && (inputs.isPassed || (inputs.mayBeTask && typeOf(answer) === "task"))) return answer;
    const asking = parsed(answer);
    if (round === maxRounds) throw tooManyRounds(server);
    if ("result" in asking) again = { ...params, ...(await respond(asking.result, inputs)) };
    else {
      const unopened = await openPages(asking.error, opened, inputs);
      if (unopened && inputs.isPassed) return answer;
      if (unopened) throw unopened;
    }
  }
}

/** True if nothing is asked for. */
export function isFinal(answer: Answer, isModern: boolean): boolean {
  if ("error" in answer) return isModern || urlElicitations(answer.error).length === 0;
  const resultType = typeOf(answer);
  return !isModern || resultType === undefined || resultType === "complete";
}

const inputRequired = "input_required";

function typeOf(answer: Exclude<Answer, { error: unknown }>): unknown {
  return "bytes" in answer ? answer.resultType : answer.result["resultType"];
}

function parsed(answer: Answer): JsonRpcAnswer {
  if (!("bytes" in answer)) return answer;
  return { result: parseExact(answer.bytes.toString("utf8")) as Record<string, unknown> };
}

async function respond(
  result: Record<string, unknown>,
  inputs: Pick<Inputs, "server" | "answer" | "isPassed">,
): Promise<Record<string, unknown>> {
  const { resultType, inputRequests, requestState } = result;
  const { server } = inputs;
  if (resultType !== inputRequired)
    throw new PlugboardError("protocol-error", `"${server}" sent a result of an unknown type.`, { server });
  const asked = isRecord(inputRequests) ? Object.entries(inputRequests) : [];
  if (asked.length > maxInputs) {
    const message = `"${server}" asks for more than ${maxInputs} inputs at once.`;
    throw new PlugboardError("protocol-error", message, { server, data: { maxInputs } });
  }
  const requests = asked.map(([key, request]) => ({ key, ...readRequest(request, server) }));
  // One question that fails ends the others.
  const over = new AbortController();
  const ask = async ({ key, method, params }: (typeof requests)[number]) =>
    [key, await answered(method, params, inputs, over.signal)] as const;
  try {
    const responses = inputs.isPassed ? await Promise.all(requests.map(ask)) : await inTurn(requests, ask);
    return {
      ...(asked.length > 0 && { inputResponses: Object.fromEntries(responses) }),
      ...(requestState !== undefined && { requestState }),
    };
  } finally {
    over.abort();
  }
}

function readRequest(request: unknown, server: string): { method: string; params: Record<string, unknown> } {
  if (!isRecord(request) || typeof request["method"] !== "string") {
    throw new PlugboardError("protocol-error", `"${server}" asked for input without a request method.`, {
      server,
    });
  }
  return { method: request["method"], params: isRecord(request["params"]) ? request["params"] : {} };
}

/** A person is asked one thing at a time. */
async function inTurn<T, R>(all: readonly T[], work: (one: T) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  for (const one of all) done.push(await work(one));
  return done;
}

/** A legacy server would be told why it gets no answer; here the call cannot go on. */
export async function answered(
  method: string,
  params: Record<string, unknown>,
  { server, answer }: Pick<Inputs, "server" | "answer">,
  signal?: AbortSignal,
): Promise<Record<string, unknown>> {
  try {
    return await answer(method, params, signal);
  } catch (error) {
    throw unanswerable(error, server, method);
  }
}

/** What the configuration answers to an input that a server requires; undefined if somebody may be asked. */
export function configuredInput(
  server: string,
  method: string,
  params: Record<string, unknown>,
  elicitationMode: "ask" | "decline",
): Record<string, unknown> | undefined {
  try {
    return configuredAnswer({ method, params }, elicitationMode);
  } catch (error) {
    throw unanswerable(error, server, method);
  }
}

/**
 * What is wrong with the answer to a form, for programs that hand out `input_required` by themselves; undefined if it
 * matches, and for every other question.
 */
export function inputMistake(
  method: string,
  params: Record<string, unknown>,
  answer: Record<string, unknown>,
): string | undefined {
  return answerMistake({ method, params }, answer, firstMistake);
}

function unanswerable(error: unknown, server: string, method: string): unknown {
  if (!(error instanceof Refusal)) return error;
  const message = `"${server}" requires an answer to ${method.slice(0, 100)}: ${error.message}.`;
  return new PlugboardError("question-declined", message, { server, data: { method }, cause: error });
}

function tooManyRounds(server: string): PlugboardError {
  const message = `"${server}" still asks for input after ${maxRounds} rounds.`;
  return new PlugboardError("protocol-error", message, { server, data: { maxRounds } });
}
