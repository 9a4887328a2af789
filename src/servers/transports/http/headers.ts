import { PlugboardError } from "../../../errors.ts";
import { isRecord } from "../../../lib/record.ts";
import type { RpcMessage } from "../../rpc/messages.ts";

const maxSessionIdLength = 4096;

/** We send the session id back in a header, so it must be visible ASCII, as in the spec, and of limited length. */
export function checkSessionId(server: string, id: string | undefined): void {
  if (id === undefined || (id.length <= maxSessionIdLength && /^[\x21-\x7e]+$/.test(id))) return;
  const problem =
    id.length > maxSessionIdLength ? `of ${id.length} characters` : "with characters that are not allowed";
  throw new PlugboardError("protocol-error", `"${server}" sent a session id ${problem}.`, { server });
}

/** The protocol revision declared in the message itself; only modern messages have one. */
export function envelopeVersion({ params }: Pick<Described, "params">): string | undefined {
  const meta = params["_meta"];
  const version = isRecord(meta) ? meta["io.modelcontextprotocol/protocolVersion"] : undefined;
  return typeof version === "string" ? version : undefined;
}

type Described = Extract<RpcMessage, { method: string }>;

const nameFields = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"],
]);

/** The headers that a modern server compares with the body: the method and the name of its target. */
export function routingHeaders({ method, params }: Described): Record<string, string> {
  const field = nameFields.get(method);
  const name = field === undefined ? undefined : params[field];
  return { "mcp-method": method, ...(typeof name === "string" && { "mcp-name": encodeHeaderValue(name) }) };
}

/** Returns the value unchanged if it is valid in a header, otherwise as `=?base64?…?=`. */
export function encodeHeaderValue(value: string): string {
  const isPlain = /^[\t\x20-\x7e]+$/.test(value) && value === value.trim();
  const looksEncoded = value.startsWith("=?base64?") && value.endsWith("?=");
  return isPlain && !looksEncoded ? value : `=?base64?${Buffer.from(value, "utf8").toString("base64")}?=`;
}
