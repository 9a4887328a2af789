import { parseExact } from "../../lib/exact-json.ts";
import { ParsedParams } from "../../calls/parsed-params.ts";
import { PlugboardError } from "../../errors.ts";
import { jsonMembers } from "../../lib/json-members.ts";
import { isRecord } from "../../lib/record.ts";
import { metaNames } from "./meta-definitions.ts";

/** Which call a call of `call_tool` stands for. Throws `arguments-invalid`. */
export function innerCall(args: Record<string, unknown>): {
  name: string;
  arguments: Record<string, unknown>;
} {
  const { name, arguments: given = {} } = args;
  const inner = typeof given === "string" ? parsed(given) : given;
  const others = Object.keys(args).filter((key) => key !== "name" && key !== "arguments");
  const problem =
    typeof name !== "string" || name === ""
      ? "`name` must be the name of a tool"
      : !isRecord(inner)
        ? "`arguments` must be an object"
        : others.length > 0
          ? `put ${others
              .slice(0, 5)
              .map((key) => JSON.stringify(key))
              .join(", ")} into \`arguments\``
          : undefined;
  if (problem === undefined) return { name: name as string, arguments: inner as Record<string, unknown> };
  const example = '{"name": "service__tool", "arguments": {"parameter": "value"}}';
  throw new PlugboardError(
    "arguments-invalid",
    `The arguments do not fit ${metaNames.call}: ${problem}. Try: ${example}`,
  );
}

function parsed(text: string): unknown {
  try {
    return text.trim() === "" ? {} : parseExact(text);
  } catch {
    return undefined;
  }
}

/**
 * The parameters of the call that a client's call of `call_tool` stands for. Everything else about the request stays, and
 * the inner arguments keep the bytes that came. `as` is another name for the tool. Throws `arguments-invalid`.
 */
export function innerParams(params: ParsedParams, as?: string): ParsedParams {
  const { arguments: outer } = params.value;
  const { name: said } = innerCall(isRecord(outer) ? outer : {});
  const name = as ?? said;
  const { bytes } = params;
  const members = jsonMembers(bytes) ?? [];
  const given = members.findLast(({ key }) => key === "arguments");
  const inner =
    given && jsonMembers(bytes, given.start, given.end)?.findLast(({ key }) => key === "arguments");
  const args = inner ? bytes.subarray(inner.start, inner.end) : Buffer.from("{}");
  const others = members
    .filter(({ key }) => key !== "name" && key !== "arguments")
    .map(({ key, start, end }) => [`,${JSON.stringify(key)}:`, bytes.subarray(start, end)] as const);
  return ParsedParams.parse(
    Buffer.concat([
      Buffer.from(`{"name":${JSON.stringify(name)},"arguments":`),
      args[0] === quote ? textOf(args) : args,
      ...others.flatMap(([key, value]) => [Buffer.from(key), value]),
      Buffer.from("}"),
    ]),
  );
}

const quote = 0x22;

/** Some models write the arguments as one text. */
function textOf(args: Buffer): Buffer {
  const text = JSON.parse(args.toString("utf8")) as string;
  return Buffer.from(text.trim() === "" ? "{}" : text);
}
