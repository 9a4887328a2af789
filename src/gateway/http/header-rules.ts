import { paramValue } from "../../host.ts";
import type { ParamHeader } from "../../host.ts";
import { Failure } from "../failure.ts";
import type { ClientRequest } from "../message.ts";
import type { HttpRequest } from "./request.ts";

const nameFields = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"],
]);

/**
 * Compares the headers of a modern request with its body. Whoever stands in between may have decided by the headers,
 * so a request whose headers say something else is refused (-32020), and nothing here is ever decided by them.
 */
export function assertRoutingHeaders(request: HttpRequest, message: ClientRequest): void {
  const method = request.header("mcp-method");
  if (method !== message.method) throw mismatch("Mcp-Method", method, "`method`");
  const field = nameFields.get(message.method);
  const name = field === undefined ? undefined : message.params.value[field];
  const header = request.header("mcp-name");
  if (typeof name === "string" && decoded(header) !== name)
    throw mismatch("Mcp-Name", header, `\`params.${field}\``);
}

/** A body without a revision is another mistake. */
export function assertVersionHeader(request: HttpRequest, revision: unknown): void {
  const header = request.header("mcp-protocol-version");
  if (header === undefined || (typeof revision === "string" && revision !== header))
    throw mismatch("MCP-Protocol-Version", header, "`_meta`");
}

/** Compares what a call repeats of its arguments, as its tool declares it (`x-mcp-header`). */
export function assertParamHeaders(
  request: HttpRequest,
  declared: readonly ParamHeader[],
  args: unknown,
): void {
  for (const { header: name, path } of declared) {
    const header = request.header(`mcp-param-${name.toLowerCase()}`);
    const value = paramValue(args, path);
    const isRight = value === undefined ? header === undefined : sameValue(header, value);
    if (!isRight) throw mismatch(`Mcp-Param-${name}`, header, "the arguments");
  }
}

function sameValue(header: string | undefined, value: string | number | boolean): boolean {
  const text = decoded(header);
  if (typeof value !== "number") return text === String(value);
  // 42 and 42.0 are the same number.
  return (
    text !== undefined && (text === String(value) || (/^-?\d+(\.\d+)?$/.test(text) && Number(text) === value))
  );
}

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const [opening, closing] = ["=?base64?", "?="];

/** The value that a header stands for; undefined if it is missing or malformed. */
function decoded(header: string | undefined): string | undefined {
  if (header === undefined || !/^[\t\x20-\x7e]*$/.test(header)) return undefined;
  const isEncoded =
    header.startsWith(opening) &&
    header.endsWith(closing) &&
    header.length >= opening.length + closing.length;
  if (!isEncoded) return header;
  const text = header.slice(opening.length, -closing.length);
  if (!base64.test(text)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(text, "base64"));
  } catch {
    return undefined;
  }
}

function mismatch(name: string, header: string | undefined, body: string): Failure {
  const problem = header === undefined ? "is missing" : `does not match ${body} of the body`;
  return new Failure(-32_020, `Header mismatch: ${name} ${problem}.`);
}
