import { isUtf8 } from "node:buffer";
import { jsonMembers, oneLine } from "../../lib/json-members.ts";
import type { JsonMember } from "../../lib/json-members.ts";
import type { RawAnswer } from "./messages.ts";

/**
 * The id and the result of an answer, read from its bytes. Undefined when it is anything but a plain answer with one JSON
 * object as its result: then it is parsed like any other message.
 */
export function readRawAnswer(
  bytes: Buffer,
  isWanted: (id: string) => boolean,
): { id: string; answer: RawAnswer } | undefined {
  const members = jsonMembers(bytes);
  const result = members?.find(({ key }) => key === "result");
  if (!members || !result) return undefined;
  const id = idIn(bytes, members);
  if (!isWanted(id) || !isPlainAnswer(members, bytes)) return undefined;
  const answer = readResult(bytes.subarray(result.start, result.end));
  return answer && { id, answer };
}

function idIn(bytes: Buffer, members: readonly JsonMember[]): string {
  const id = members.find(({ key }) => key === "id");
  return id && bytes[id.start] === 0x22 ? bytes.toString("utf8", id.start + 1, id.end - 1) : "";
}

/** One of each key, no method and no error: a hostile server could hide a second answer behind the first. */
function isPlainAnswer(members: readonly JsonMember[], bytes: Buffer): boolean {
  const keys = new Set(members.map(({ key }) => key));
  const version = members.find(({ key }) => key === "jsonrpc");
  const isVersion = version && bytes.toString("utf8", version.start, version.end) === '"2.0"';
  return keys.size === members.length && isVersion === true && !keys.has("method") && !keys.has("error");
}

/** Undefined when it is not a JSON object, or names a key twice. */
function readResult(bytes: Buffer): RawAnswer | undefined {
  const members = jsonMembers(bytes);
  if (!members || !isUtf8(bytes) || new Set(members.map(({ key }) => key)).size !== members.length)
    return undefined;
  const text = bytes.toString("utf8");
  let value: { resultType?: unknown; isError?: unknown };
  try {
    value = JSON.parse(text) as typeof value;
  } catch {
    return undefined;
  }
  const { resultType, isError } = value;
  return {
    bytes: bytes.includes(0x0a) || bytes.includes(0x0d) ? Buffer.from(oneLine(text)) : bytes,
    resultType: typeof resultType === "string" ? resultType : undefined,
    isError: isError === true,
  };
}
