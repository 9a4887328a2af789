import { isPlugboardError } from "../index.ts";
import type { TracedAnswer } from "../host.ts";
import { shownMessage } from "./safe-uri.ts";

/** Why a request failed, in the words of the conventions. */
export interface Failed {
  /** `error.type` */
  type: string;
  /** The code of a JSON-RPC error. */
  code?: string;
  message?: string;
}

const longest = 512;

/** Undefined if the request succeeded. `clean` hides what only the caller knows to be secret. */
export function failureIn(answer: TracedAnswer, clean = unchanged): Failed | undefined {
  if ("error" in answer) {
    const code = String(answer.error.code).slice(0, 32);
    return { type: code, code, message: shownMessage(clean(answer.error.message), longest) };
  }
  return isToolError(answer) ? { type: "tool_error" } : undefined;
}

const unchanged = (text: string): string => text;

export function failureOf(error: unknown, clean = unchanged): Failed {
  if (!isPlugboardError(error)) return { type: "_OTHER" };
  return { type: error.code, message: shownMessage(clean(error.message), longest) };
}

function isToolError(answer: Exclude<TracedAnswer, { error: unknown }>): boolean {
  return "bytes" in answer ? answer.isError : answer.result["isError"] === true;
}

/** The value of a result, as far as it can be shown. */
export function resultOf(answer: TracedAnswer): unknown {
  if ("error" in answer) return undefined;
  if (!("bytes" in answer)) return answer.result;
  const { bytes } = answer;
  const isLarge = bytes.length > mostParsed;
  return isLarge ? `(${bytes.length} bytes)` : (JSON.parse(bytes.toString("utf8")) as unknown);
}

/** Larger results would take longer to read than to pass on. */
const mostParsed = 64 * 1024;
