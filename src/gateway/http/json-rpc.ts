import type { Answer } from "../exchange.ts";
import { free } from "../../lib/memory.ts";
import { errorText, resultChunks } from "../result.ts";
import type { Chunk } from "./request.ts";

/** An answer as JSON text. The bytes of a result are not copied. */
export function answerChunks(idText: string, answer: Answer): Chunk[] {
  const head = `{"jsonrpc":"2.0","id":${idText},`;
  if ("error" in answer) return [`${head}"error":${errorText(answer.error)}}`];
  return resultChunks(`${head}"result":`, answer, "}");
}

/** What is to be done when an answer was sent and nobody needs it any more. */
export function afterSending(answer: Answer): (() => void) | undefined {
  return "bytes" in answer && answer.isAlone ? () => free(answer.bytes) : undefined;
}
