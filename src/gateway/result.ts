import type { RawAnswer } from "../host.ts";
import { copyExact, parseExact, stringifyExact } from "../lib/exact-json.ts";
import { editJson } from "../lib/json-edit.ts";
import { parsedBytes } from "../lib/json-members.ts";
import type { JsonEdits } from "../lib/json-edit.ts";
import { compact } from "../lib/memory.ts";
import type { RpcFailure } from "./exchange.ts";

/** A result as the JSON text that a server sent. */
export interface RawResult extends Pick<RawAnswer, "bytes" | "isError" | "isAlone"> {
  /** The text of members that are sent before its own. */
  members?: string | undefined;
}

export type Result = { result: Record<string, unknown> } | RawResult;

/** A result whose JSON text is known and kept by somebody. */
export function rawResult(bytes: Buffer): RawResult {
  return { bytes, isError: false, isAlone: false };
}

/** An answer that can be kept: it may be sent several times, and does not keep the rest of its message in memory. */
export function keptAnswer<T extends Result | { error: unknown }>(answer: T): T {
  return "bytes" in answer ? { ...answer, bytes: compact(answer.bytes), isAlone: false } : answer;
}

/** About how much memory an answer takes while it is kept. */
export function answerBytes(answer: Result | { error: unknown }): number {
  if ("bytes" in answer) return answer.bytes.length;
  return valueBytes("error" in answer ? answer.error : answer.result);
}

/** The same for a value of JSON. */
export function valueBytes(value: unknown): number {
  return parsedBytes(Buffer.from(stringifyExact(value)));
}

/** The value of a result, parsed if need be. */
export function valueOf(result: Result): Record<string, unknown> {
  if (!("bytes" in result)) return result.result;
  const value = parseExact(result.bytes.toString("utf8")) as Record<string, unknown>;
  return result.members === undefined
    ? value
    : { ...(JSON.parse(`{${result.members}}`) as typeof value), ...value };
}

/** A result with changes. All other values are as they came, to the last digit. */
export function editedResult(result: Result, edits: JsonEdits): RawResult {
  const raw = "bytes" in result ? result : rawResult(Buffer.from(stringifyExact(result.result)));
  return { ...raw, bytes: editJson(raw.bytes, edits), isAlone: false };
}

/** The JSON text of a result, after a text and before another. Bytes are not copied. */
export function resultChunks(before: string, result: Result, after: string): (string | Buffer)[] {
  if (!("bytes" in result)) return [`${before}${stringifyExact(result.result)}${after}`];
  const { bytes, members } = result;
  if (members === undefined) return [before, bytes, after];
  return isEmpty(bytes)
    ? [`${before}{${members}}${after}`]
    : [`${before}{${members},`, bytes.subarray(1), after];
}

/** The JSON text of an error. */
export function errorText(error: RpcFailure): string {
  const { code, message, data } = error;
  return stringifyExact(copyExact(error, { code, message, data }));
}

/** True for an object without members. */
function isEmpty(object: Buffer): boolean {
  let at = 1;
  while (at < object.length && (object[at] ?? 0) <= 0x20) at++;
  return object[at] === closeBrace;
}

const closeBrace = 0x7d;
