import { isUtf8 } from "node:buffer";
import { isAlone } from "../../lib/memory.ts";
import { isWritten, memberOf, oneLine, readMembers } from "../../lib/json-members.ts";
import type { JsonMember } from "../../lib/json-members.ts";
import { jsonValueEnd } from "../../lib/strict-json.ts";
import { maxDepth } from "./depth.ts";
import type { RawAnswer } from "./messages.ts";

/**
 * The id and the result of an answer, read from its bytes in one pass. Undefined when it is anything but a plain answer
 * with one JSON object as its result: then it is parsed like any other message, which also says what is wrong with it.
 */
export function readRawAnswer(
  bytes: Buffer,
  isWanted: (id: string) => boolean,
): { id: string; answer: RawAnswer } | undefined {
  const members: JsonMember[] = [];
  const results: JsonMember[] = [];
  const endOf = (start: number) => jsonValueEnd(bytes, start, maxPassedDepth);
  const end = readMembers(bytes, 0, bytes.length, members, (start, key) =>
    key === "result" ? readMembers(bytes, start, bytes.length, results, endOf) : endOf(start),
  );
  const result = memberOf(members, "result");
  if (!result || !isBlank(bytes, end) || !isPlainAnswer(members, bytes)) return undefined;
  const id = idIn(bytes, members);
  if (!isWanted(id) || hasRepeatedKey(results) || !isUtf8(bytes)) return undefined;
  const type = memberOf(results, "resultType");
  const failed = memberOf(results, "isError");
  if (type && (bytes[type.start] !== quote || !isReadable(bytes, type, results))) return undefined;
  const came = bytes.subarray(result.start, result.end);
  const own = inOneLine(came);
  return {
    id,
    answer: {
      bytes: own,
      resultType: type && (parseAt(bytes, type) as string),
      isError: failed !== undefined && parseAt(bytes, failed) === true,
      // A copy may share its memory with anything.
      isAlone: own === came && bytes.length > freedBytes && isAlone(bytes),
    },
  };
}

const quote = 0x22;
/** Bytes that are passed on are not walked through; this bounds only what is kept while they are checked. */
const maxPassedDepth = 100_000;
const completeText = Buffer.from('"complete"');

/** A result that is not the last word is read, so it must not be deeper than other messages. */
function isReadable(bytes: Buffer, type: JsonMember, results: readonly JsonMember[]): boolean {
  return (
    isWritten(bytes, type, completeText) ||
    results.every(({ start }) => jsonValueEnd(bytes, start, maxDepth - 2) !== -1)
  );
}
/** Less is no burden for the garbage collector. */
const freedBytes = 64 * 1024;

function idIn(bytes: Buffer, members: readonly JsonMember[]): string {
  const id = memberOf(members, "id");
  return id && bytes[id.start] === quote ? bytes.toString("utf8", id.start + 1, id.end - 1) : "";
}

/** One of each key, no method and no error: a hostile server could hide a second answer behind the first. */
function isPlainAnswer(members: readonly JsonMember[], bytes: Buffer): boolean {
  if (hasRepeatedKey(members)) return false;
  if (memberOf(members, "method") || memberOf(members, "error")) return false;
  return isWritten(bytes, memberOf(members, "jsonrpc"), versionText);
}

const versionText = Buffer.from('"2.0"');

function hasRepeatedKey(members: readonly JsonMember[]): boolean {
  // Most answers have so few that a set would cost more.
  if (members.length > 8) return new Set(members.map(({ key }) => key)).size !== members.length;
  for (const member of members) if (memberOf(members, member.key) !== member) return true;
  return false;
}

/** The value of a member whose text was checked. */
function parseAt(bytes: Buffer, { start, end }: JsonMember): unknown {
  return JSON.parse(bytes.toString("utf8", start, end));
}

function isBlank(bytes: Buffer, from: number): boolean {
  return from !== -1 && (from === bytes.length || bytes.toString("latin1", from).trim() === "");
}

function inOneLine(bytes: Buffer): Buffer {
  return bytes.includes(0x0a) || bytes.includes(0x0d) ? Buffer.from(oneLine(bytes.toString("utf8"))) : bytes;
}
