import type { Answer, RpcFailure } from "../exchange.ts";
import type { Chunk } from "./request.ts";

/** An answer as JSON text. The bytes of a result are not copied. */
export function answerChunks(idText: string, answer: Answer): Chunk[] {
  const head = `{"jsonrpc":"2.0","id":${idText},`;
  if ("error" in answer) return [`${head}"error":${errorText(answer.error)}}`];
  const { result } = answer;
  if (Buffer.isBuffer(result)) return [`${head}"result":`, result, "}"];
  return [`${head}"result":${JSON.stringify(result)}}`];
}

function errorText({ code, message, data }: RpcFailure): string {
  return JSON.stringify({ code, message, data });
}
