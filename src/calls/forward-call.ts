import { isUtf8 } from "node:buffer";
import { PlugboardError } from "../errors.ts";
import { hasDuplicateKeys, jsonMembers, oneLine } from "../lib/json-members.ts";
import { isRecord } from "../lib/record.ts";
import type { JsonRpcAnswer, RawAnswer, RpcRequest } from "../servers/rpc/messages.ts";
import { approved, failCall, findForCall, prepare } from "./send.ts";
import type { CallContext, SendOptions } from "./send.ts";

export interface ForwardOptions extends SendOptions {
  /** As which account, instead of the configured one. */
  profile?: string | undefined;
  /** Hand out a result as its bytes, without parsing it. */
  raw?: boolean | undefined;
}

/**
 * Passes a call on: found, visible, arguments, approval, deadline and events as for any call, everything else untouched.
 * `params` go to the server whole, except for the tool's name; its answer comes back as it is, `input_required` and
 * JSON-RPC errors included. Parameters given as the bytes of their JSON text are parsed here, once; where they hold
 * numbers that JavaScript would change, the values nobody changed are sent as the bytes that came.
 */
export async function forwardCall(
  id: string,
  params: Record<string, unknown> | Buffer,
  options: ForwardOptions,
  context: CallContext,
): Promise<JsonRpcAnswer | RawAnswer> {
  const whole = Buffer.isBuffer(params) ? parseParams(params) : params;
  const raw = Buffer.isBuffer(params) && holdsExactNumbers(params) ? params : undefined;
  const found = findForCall(id, options.signal, context);
  const tool = found instanceof Promise ? await found : found;
  const call = context.log.begin(tool, context.scope.use.caller, context.keyOf(tool.server));
  try {
    const args = argumentsOf(whole);
    const prepared = prepare(tool, args, call, options, context);
    if (prepared.approval) await approved(id, tool, prepared, options, context);
    const sent = { ...whole, name: tool.name };
    if ("arguments" in whole || prepared.args !== args) Object.assign(sent, { arguments: prepared.args });
    const write = raw && ((request: RpcRequest) => writeRaw(request, raw, whole));
    const answer = await context.request(tool.server, sent, { ...prepared.options, raw: options.raw, write });
    call.end(isFailed(answer) ? "tool-error" : "ok");
    return answer;
  } catch (error) {
    throw failCall(error, tool, call);
  }
}

function parseParams(bytes: Buffer): Record<string, unknown> {
  const value = isUtf8(bytes) ? tryParse(bytes.toString("utf8")) : undefined;
  if (isRecord(value)) return value;
  throw new PlugboardError("usage-invalid", "The parameters of a call are a JSON object.");
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * True when parsing may change a number: many digits, a fraction, an exponent. Then the text must mean one thing only: a
 * key that stands twice in an object would be checked as one value and read as another.
 */
function holdsExactNumbers(bytes: Buffer): boolean {
  if (!/\d{16}|\d[.eE]/.test(bytes.toString("latin1"))) return false;
  if (hasDuplicateKeys(bytes))
    throw new PlugboardError("usage-invalid", "A key stands twice in the parameters of the call.");
  return true;
}

function argumentsOf({ arguments: args = {} }: Record<string, unknown>): Record<string, unknown> {
  if (isRecord(args)) return args;
  throw new PlugboardError("arguments-invalid", "The arguments of a call are an object.");
}

function isFailed(answer: JsonRpcAnswer | RawAnswer): boolean {
  if ("bytes" in answer) return answer.isError;
  return "error" in answer || answer.result["isError"] === true;
}

/** The request as one line, with every value that nobody changed as the bytes it came with. */
function writeRaw(request: RpcRequest, bytes: Buffer, value: Record<string, unknown>): string {
  const { id, method, params } = request;
  const written = writeMembers(params, value, bytes, 0, bytes.length);
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":${JSON.stringify(method)},"params":${written}}`;
}

function writeMembers(
  wanted: Record<string, unknown>,
  came: Record<string, unknown>,
  bytes: Buffer,
  start: number,
  end: number,
): string {
  const places = new Map(jsonMembers(bytes, start, end)?.map((member) => [member.key, member]));
  const members = Object.entries(wanted).flatMap(([key, member]) => {
    const place = places.get(key);
    const original = came[key];
    const text =
      place && typeof member === "object" && member === original
        ? oneLine(bytes.toString("utf8", place.start, place.end))
        : place && key === "_meta" && isRecord(member) && isRecord(original)
          ? writeMembers(member, original, bytes, place.start, place.end)
          : place && typeof member === "number" && member === original
            ? bytes.toString("utf8", place.start, place.end)
            : JSON.stringify(member);
    return text === undefined ? [] : [`${JSON.stringify(key)}:${text}`];
  });
  return `{${members.join(",")}}`;
}
