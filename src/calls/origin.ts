import type { JsonRpcAnswer, RawAnswer } from "../servers/rpc/messages.ts";
import type { RequestTrace } from "../servers/rpc/requests.ts";
import type { TargetIdentity } from "../servers/target-identity.ts";
import { isFinal } from "./input-required.ts";

/** Says of an answer that is not the end what gave it: what belongs to it must go to nothing else of that name. */
export async function withOrigin<A extends JsonRpcAnswer | RawAnswer>(
  answer: A,
  { isModern, target }: RequestTrace,
  markOf: (target: TargetIdentity) => Promise<string>,
): Promise<A> {
  if (!target || isFinal(answer, isModern === true)) return answer;
  return { ...answer, from: await markOf(target) };
}
