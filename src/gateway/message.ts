import { ParsedParams } from "../host.ts";
import { isDeeperThan } from "../lib/depth.ts";
import {
  isWritten,
  jsonItems,
  jsonMembers,
  memberOf,
  readMembers,
  skipSpace,
  valueEnd,
} from "../lib/json-members.ts";
import type { JsonMember } from "../lib/json-members.ts";
import { compact } from "../lib/memory.ts";
import { isRecord } from "../lib/record.ts";
import type { RpcFailure } from "./exchange.ts";
import { parseExact } from "../lib/exact-json.ts";

/** A message of a client, read from its bytes by one scan and one parse. */
export type ClientMessage = ClientRequest | ClientNotification | ClientAnswer;

export interface ClientRequest {
  kind: "request";
  id: string | number;
  /** The id as JSON text. Numbers keep their digits, so it is also the id's identity. */
  idText: string;
  method: string;
  params: ParsedParams;
}

export interface ClientNotification {
  kind: "notification";
  method: string;
  params: ParsedParams;
}

/** The answer to a question of ours. */
export interface ClientAnswer {
  kind: "answer";
  idText: string;
  answer: { result: Record<string, unknown> } | { error: RpcFailure };
}

/** The bytes are not a message. `idText` is there if the message at least has a usable id. */
export class BadMessage extends Error {
  readonly failure: RpcFailure;
  readonly idText: string;

  constructor(code: -32_700 | -32_600 | -32_602, message: string, idText = "null") {
    super(message);
    this.failure = { code, message };
    this.idText = idText;
  }
}

const openBrace = 0x7b;
const noParams = ParsedParams.parse(Buffer.from("{}"));
const envelopeKeys = new Set(["jsonrpc", "id", "method", "params", "result", "error"]);

/** Throws a `BadMessage` for anything but one JSON-RPC message with unambiguous keys. */
export function readMessage(bytes: Buffer): ClientMessage {
  const members: JsonMember[] = [];
  const paramMembers: JsonMember[] = [];
  if (!readEnvelope(bytes, members, paramMembers)) throw notAnObject(bytes);
  const hasOthers = !areFewAndKnown(members, envelopeKeys);
  if (hasOthers) assertPlainKeys(members, envelopeKeys, "null");
  const valueAt = (member: JsonMember | undefined) =>
    member && parsed(bytes.toString("utf8", member.start, member.end), idText);
  const idMember = memberOf(members, "id");
  const id = readId(bytes, idMember);
  const idText = id?.text ?? "null";
  const version = memberOf(members, "jsonrpc");
  if (!isWritten(bytes, version, versionText) && valueAt(version) !== "2.0")
    throw invalid('"jsonrpc" must be "2.0"', idText);
  // Looking for each by its key would take minutes in a message of a few MB.
  if (hasOthers) for (const member of members) if (!envelopeKeys.has(member.key)) valueAt(member);
  const said = memberOf(members, "method");
  const [result, error] = [memberOf(members, "result"), memberOf(members, "error")];
  if (!said) return readAnswer(valueAt(result), valueAt(error), id);
  const method = isWritten(bytes, said, callText) ? "tools/call" : valueAt(said);
  if (typeof method !== "string") throw invalid("`method` must be a string", idText);
  if (result || error) throw invalid("A request has no `result` or `error`", idText);
  const params = readParams(bytes, memberOf(members, "params"), paramMembers, idText);
  if (!idMember) return { kind: "notification", method, params };
  if (!id) throw invalid("`id` must be a string or a number");
  return { kind: "request", id: id.value, idText, method, params };
}

const versionText = Buffer.from('"2.0"');
const callText = Buffer.from('"tools/call"');

/** The `idText` of the request that a `notifications/cancelled` is about. */
export function cancelledId({ params: { bytes, value } }: ClientNotification): string {
  const { requestId } = value;
  if (typeof requestId !== "number") return JSON.stringify(requestId) ?? "";
  const member = memberOf(jsonMembers(bytes) ?? [], "requestId");
  return member ? bytes.toString("utf8", member.start, member.end) : String(requestId);
}

/** Finds the members of the message and of its parameters in one pass. False if the bytes are not one object. */
function readEnvelope(bytes: Buffer, members: JsonMember[], paramMembers: JsonMember[]): boolean {
  const to = bytes.length;
  const endOf = (start: number) => valueEnd(bytes, start, to);
  const end = readMembers(bytes, skipSpace(bytes, 0, to), to, members, (start, key) => {
    const isObject = key === "params" && bytes[start] === openBrace;
    const paramsEnd = isObject ? readMembers(bytes, start, to, paramMembers, endOf) : -1;
    // What is wrong with parameters is found by parsing them; the id is told then.
    return paramsEnd === -1 ? endOf(start) : paramsEnd;
  });
  return end !== -1 && skipSpace(bytes, end, to) === to;
}

/** The messages of a batch as the bytes that came; undefined if the body is not an array. */
export function readBatch(bytes: Buffer, most = 100): Buffer[] | undefined {
  if (bytes[firstByte(bytes)] !== 0x5b) return undefined;
  const items = jsonItems(bytes, most);
  if (!items) throw new BadMessage(-32_700, "The body is not valid JSON.");
  if (items.length === 0) throw invalid("A batch needs at least one message");
  if (items.length > most) throw invalid(`A batch has at most ${most} messages`);
  // One of them must not keep the others in memory.
  return items.map(({ start, end }) => compact(bytes.subarray(start, end)));
}

function readParams(
  bytes: Buffer,
  member: JsonMember | undefined,
  members: readonly JsonMember[],
  idText: string,
): ParsedParams {
  if (!member) return noParams;
  // Whoever keeps parameters must not keep what else was sent.
  const part = compact(bytes.subarray(member.start, member.end));
  if (part[0] !== openBrace) throw invalid("`params` must be an object", idText);
  let params: ParsedParams;
  try {
    params = ParsedParams.parse(part);
  } catch {
    throw new BadMessage(-32_700, "The body is not valid JSON.", idText);
  }
  if (!areFewAndKnown(members, paramKeys)) assertPlainKeys(members, paramKeys, idText);
  if (part.length >= 2 * maxDepth && isDeeperThan(params.value, maxDepth))
    throw new BadMessage(-32_602, `\`params\` is ${tooDeep}.`, idText);
  return params;
}

/** What is nested deeper would exhaust the stack of whoever walks through it. Servers are held to the same limit. */
const maxDepth = 500;
const tooDeep = `nested deeper than ${maxDepth} levels`;

/** Parameters that decide something. Another spelling of one of them could mean one thing here and another at the server. */
const paramKeys = new Set([
  "name",
  "arguments",
  "_meta",
  "uri",
  "cursor",
  "requestState",
  "inputResponses",
  "task",
  "taskId",
  "ref",
  "notifications",
]);

function assertPlainKeys(members: readonly JsonMember[], known: ReadonlySet<string>, idText: string): void {
  const seen = new Set<string>();
  for (const { key } of members) {
    const folded = key.toLowerCase();
    if (seen.has(folded)) throw invalid(`The key ${JSON.stringify(key.slice(0, 50))} is repeated`, idText);
    seen.add(folded);
    if (!known.has(key) && [...known].some((one) => one.toLowerCase() === folded))
      throw invalid(`The key ${JSON.stringify(key)} differs from a known one only in case`, idText);
  }
}

/** Most messages: a few keys, each spelt as we know it and there once. */
function areFewAndKnown(members: readonly JsonMember[], known: ReadonlySet<string>): boolean {
  if (members.length > known.size) return false;
  for (const member of members)
    if (!known.has(member.key) || memberOf(members, member.key) !== member) return false;
  return true;
}

function readAnswer(result: unknown, error: unknown, id: { text: string } | undefined): ClientAnswer {
  if (!id) throw invalid("A message needs a `method` or an `id`");
  if (isRecord(result) && error === undefined) {
    // Whoever asked must hear something, and cannot be sent this.
    const answer = isDeeperThan(result, maxDepth)
      ? { error: { code: -32_602, message: `The client's answer is ${tooDeep}` } }
      : { result };
    return { kind: "answer", idText: id.text, answer };
  }
  const { code, message, data } = isRecord(error) ? error : {};
  if (result !== undefined || typeof code !== "number" || typeof message !== "string")
    throw invalid("An answer needs a `result` object or an `error`", id.text);
  return {
    kind: "answer",
    idText: id.text,
    answer: { error: { code, message, ...(data !== undefined && { data }) } },
  };
}

function readId(
  bytes: Buffer,
  member: JsonMember | undefined,
): { text: string; value: string | number } | undefined {
  if (!member || member.end - member.start > 1_000) return undefined;
  const number = smallNumber(bytes, member);
  if (number > 0) return { text: String(number), value: number };
  const text = bytes.toString("utf8", member.start, member.end);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value === "string") return { text: JSON.stringify(value), value };
  return typeof value === "number" ? { text, value } : undefined;
}

/** A positive whole number that is exact in JavaScript, from its digits; 0 if it is anything else. */
function smallNumber(bytes: Buffer, { start, end }: JsonMember): number {
  if (bytes[start] === 0x30 || end - start > 15) return 0;
  let number = 0;
  for (let at = start; at < end; at++) {
    const digit = (bytes[at] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) return 0;
    number = number * 10 + digit;
  }
  return number;
}

function parsed(text: string, idText: string): unknown {
  try {
    return parseExact(text);
  } catch {
    throw new BadMessage(-32_700, "The body is not valid JSON.", idText);
  }
}

function notAnObject(bytes: Buffer): BadMessage {
  try {
    JSON.parse(bytes.toString("utf8"));
  } catch {
    return new BadMessage(-32_700, "The body is not valid JSON.");
  }
  return invalid("A message is a JSON object");
}

function invalid(message: string, idText?: string): BadMessage {
  return new BadMessage(-32_600, `Invalid request: ${message}.`, idText);
}

function firstByte(bytes: Buffer): number {
  let at = 0;
  while (at < bytes.length && (bytes[at] ?? 0) <= 0x20) at++;
  return at;
}
