import { PlugboardError } from "../errors.ts";
import { isRecord } from "../lib/record.ts";
import type { JsonRpcAnswer } from "../servers/rpc/messages.ts";

export type AnswerInput = (
  method: string,
  params: Record<string, unknown>,
) => Promise<Record<string, unknown>>;

const maxRounds = 10;

/**
 * Modern servers do not ask while they work: they answer that input is required and are asked again with it. The
 * state they hand out is echoed to the byte and never looked into.
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
      throw new PlugboardError("protocol-error", `"${server}" sent a result of an unknown kind.`, { server });
    }
    answered = await send({ ...params, ...(await respond(server, answered.result, answer)) });
  }
  throw new PlugboardError("protocol-error", `"${server}" still wants input after ${maxRounds} rounds.`, {
    server,
    data: { maxRounds },
  });
}

/** True for an error, and for a result that asks for nothing. */
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
      throw new PlugboardError("protocol-error", `"${server}" asked for input without saying what.`, {
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
