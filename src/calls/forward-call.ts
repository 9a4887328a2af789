import { PlugboardError } from "../errors.ts";
import { jsonMembers } from "../lib/json-members.ts";
import { isRecord } from "../lib/record.ts";
import type { JsonRpcAnswer, RawAnswer, RpcRequest } from "../servers/rpc/messages.ts";
import { failCall, findForCall, prepare } from "./send.ts";
import type { CallContext, SendOptions } from "./send.ts";

/** Parameters of a call as they came: their JSON text and the one parse of it. */
export interface RawParams {
  bytes: Buffer;
  value: Record<string, unknown>;
}

export interface ForwardOptions extends SendOptions {
  /** As which account, instead of the configured one. */
  profile?: string | undefined;
  /** Hand out a result as its bytes, without parsing it. */
  raw?: boolean | undefined;
}

/**
 * Passes a call on: found, visible, arguments, approval, deadline and events as for any call, everything else untouched.
 * `params` go to the server whole, except for the tool's name; its answer comes back as it is, `input_required` and
 * JSON-RPC errors included. Parameters that are given as bytes keep them, so that no number changes on the way.
 */
export async function forwardCall(
  id: string,
  params: Record<string, unknown> | RawParams,
  options: ForwardOptions,
  context: CallContext,
): Promise<JsonRpcAnswer | RawAnswer> {
  const raw = isRaw(params) ? params : undefined;
  const whole = raw?.value ?? (params as Record<string, unknown>);
  const found = findForCall(id, options.signal, context);
  const tool = found instanceof Promise ? await found : found;
  const call = context.log.begin(tool, context.scope.use.caller, context.keyOf(tool.server));
  try {
    const args = argumentsOf(whole);
    const prepared = prepare(tool, args, call, options, context);
    if (prepared.approval) await prepared.approval;
    const sent = { ...whole, name: tool.name };
    if ("arguments" in whole || prepared.args !== args) Object.assign(sent, { arguments: prepared.args });
    const write = raw && ((request: RpcRequest) => writeRaw(request, raw));
    const answer = await context.request(tool.server, sent, { ...prepared.options, raw: options.raw, write });
    call.end(isFailed(answer) ? "tool-error" : "ok");
    return answer;
  } catch (error) {
    throw failCall(error, tool, call);
  }
}

function isRaw(params: Record<string, unknown> | RawParams): params is RawParams {
  return Buffer.isBuffer(params["bytes"]) && isRecord(params["value"]);
}

function argumentsOf({ arguments: args = {} }: Record<string, unknown>): Record<string, unknown> {
  if (isRecord(args)) return args;
  throw new PlugboardError("arguments-invalid", "The arguments of a call are an object.");
}

function isFailed(answer: JsonRpcAnswer | RawAnswer): boolean {
  if ("bytes" in answer) return answer.isError;
  return "error" in answer || answer.result["isError"] === true;
}

/** The request with every value that nobody changed as the bytes it came with. */
function writeRaw(request: RpcRequest, { bytes, value }: RawParams): string {
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
      place && Object.is(member, original)
        ? bytes.toString("utf8", place.start, place.end)
        : place && key === "_meta" && isRecord(member) && isRecord(original)
          ? writeMembers(member, original, bytes, place.start, place.end)
          : JSON.stringify(member);
    return text === undefined ? [] : [`${JSON.stringify(key)}:${text}`];
  });
  return `{${members.join(",")}}`;
}
