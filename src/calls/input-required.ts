import { PlugboardError } from "../errors.ts";
import { isRecord } from "../lib/record.ts";
import type { JsonRpcAnswer } from "../servers/rpc/messages.ts";

export type AnswerInput = (
  method: string,
  params: Record<string, unknown>,
) => Promise<Record<string, unknown>>;

const maxRounds = 10;

/**
 * Repeats a request with the input that a modern server asks for. Such servers do not send requests while they work;
 * they return an input-required result. Their `requestState` is sent back unchanged and never interpreted.
 */
export async function withInputs(
  server: string,
  params: Record<string, unknown>,
  first: JsonRpcAnswer,
  send: (params: Record<string, unknown>) => Promise<JsonRpcAnswer>,
  answer: AnswerInput,
): Promise<JsonRpcAnswer> {
  let answered = first;
  for (let round = 0; round < maxRounds; round++) {
    if ("error" in answered || isFinal(answered)) return answered;
    if (answered.result["resultType"] !== "input_required") {
      throw new PlugboardError("protocol-error", `"${server}" sent a result of an unknown type.`, { server });
    }
    answered = await send({ ...params, ...(await respond(server, answered.result, answer)) });
  }
  throw new PlugboardError("protocol-error", `"${server}" still asks for input after ${maxRounds} rounds.`, {
    server,
    data: { maxRounds },
  });
}

/** True for an error, and for a result that does not ask for input. */
export function isFinal(answer: JsonRpcAnswer): boolean {
  if ("error" in answer) return true;
  const { resultType } = answer.result;
  return resultType === undefined || resultType === "complete";
}

async function respond(
  server: string,
  result: Record<string, unknown>,
  answer: AnswerInput,
): Promise<Record<string, unknown>> {
  const { inputRequests, requestState } = result;
  const asked = isRecord(inputRequests) ? Object.entries(inputRequests) : [];
  const responses: Record<string, unknown> = {};
  for (const [key, request] of asked) {
    if (!isRecord(request) || typeof request["method"] !== "string") {
      throw new PlugboardError("protocol-error", `"${server}" asked for input without a request method.`, {
        server,
      });
    }
    const value = await answer(request["method"], isRecord(request["params"]) ? request["params"] : {});
    Object.defineProperty(responses, key, { value, enumerable: true, configurable: true, writable: true });
  }
  return {
    ...(asked.length > 0 && { inputResponses: responses }),
    ...(requestState !== undefined && { requestState }),
  };
}
