import { innerParams, metaNames } from "../../host.ts";
import { isPlugboardError } from "../../index.ts";
import type { JsonRpcAnswer, MetaName, ParsedParams } from "../../host.ts";
import type { CallResult, MetaTools, ToolEntry } from "../../index.ts";
import { isRecord } from "../../lib/record.ts";
import type { Answer, Exchange } from "../exchange.ts";
import { failedCall } from "../failure.ts";
import { completed } from "../required-input.ts";

/** The call that a call of `call_tool` stands for. */
export interface InnerCall {
  exchange: Exchange;
  meta: MetaTools;
  tool: ToolEntry;
}

/** Answers a call of one of our three tools, or says which call it stands for. */
export async function callMeta(exchange: Exchange, name: MetaName): Promise<Answer | InnerCall> {
  const { client, params, signal } = exchange;
  const { endpoint } = client;
  const meta = await endpoint.metaTools(client);
  const { arguments: given } = params.value;
  const args = isRecord(given) ? given : {};
  let tool: ToolEntry | undefined;
  try {
    if (name === metaNames.describe) return answered(await meta.describe(args, { signal }), exchange);
    if (name === metaNames.search) {
      await endpoint.searchable(client, signal);
      return answered(await meta.search(args, { signal, wait: false }), exchange);
    }
    const inner = innerParams(params);
    const said = inner.value["name"];
    tool = await meta.find(String(said), signal);
    const own = endpoint.names.ofTool(tool);
    // A task may go on in another process, which makes a direct call of it. Those know this name only.
    const direct = own === said ? inner : innerParams(params, own);
    return { exchange: withParams(exchange, direct), meta, tool };
  } catch (error) {
    return asAnswer(failedInner(error, meta, tool), exchange);
  }
}

/** What a model is told of a call that failed: with the schema, where it did not have it. */
export function failedInner(error: unknown, meta: MetaTools, tool: ToolEntry | undefined): JsonRpcAnswer {
  const failed = failedCall(error);
  if (!isPlugboardError(error) || !advised.has(error.code)) return failed;
  const data =
    "error" in failed
      ? failed.error.data
      : isRecord(failed.result["_meta"])
        ? failed.result["_meta"]["plugboard/error"]
        : undefined;
  return { result: { ...meta.failure(error, tool), _meta: { "plugboard/error": data } } };
}

/** A name or arguments that a model chose are its own mistakes here, although the protocol has errors for them. */
const advised: ReadonlySet<string> = new Set([
  "arguments-invalid",
  "tool-unknown",
  "tool-hidden",
  "lock-mismatch",
]);

function answered(result: CallResult, exchange: Exchange): Answer {
  return asAnswer({ result }, exchange);
}

function asAnswer(answer: JsonRpcAnswer, { client, method }: Exchange): Answer {
  return client.era === "modern" ? completed(answer, method) : answer;
}

function withParams(exchange: Exchange, params: ParsedParams): Exchange {
  const { client, id, method, signal, outlet } = exchange;
  return {
    client,
    outlet,
    id,
    method,
    params,
    signal,
    onCancelled: (listener) => exchange.onCancelled(listener),
    get isConnected() {
      return exchange.isConnected !== false;
    },
    notify: (...said) => exchange.notify(...said),
  };
}
