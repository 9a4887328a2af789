import { isRecord } from "../lib/record.ts";

/** A parameter that a modern HTTP server also requires as a header (`x-mcp-header`). */
export interface ParamHeader {
  path: string[];
  header: string;
}

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
// Not `number`: client and server may format the same number differently.
const primitives = new Set(["string", "integer", "boolean"]);

/** The header declarations of a tool. Only parameters with a fixed path can be headers. */
export function paramHeaders(schema: unknown): ParamHeader[] {
  return scan(schema, []).flatMap((found) => ("header" in found ? [found] : []));
}

/** Why the header declarations make a tool unusable; undefined if they are valid. */
export function paramHeaderProblem(schema: unknown): string | undefined {
  const found = scan(schema, []);
  const wrong = found.find((one) => "problem" in one);
  if (wrong && "problem" in wrong) return wrong.problem;
  const names = found.flatMap((one) => ("header" in one ? [one.header.toLowerCase()] : []));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  return twice === undefined ? undefined : `the header "${twice}" is declared for two parameters`;
}

type Found = ParamHeader | { problem: string };

function scan(schema: unknown, path: string[], depth = 0): Found[] {
  if (!isRecord(schema) || depth > 16) return [];
  const own = "x-mcp-header" in schema ? [judge(schema, path)] : [];
  const { properties } = schema;
  const inner = isRecord(properties)
    ? Object.entries(properties).flatMap(([name, member]) => scan(member, [...path, name], depth + 1))
    : [];
  return [...own, ...inner, ...misplaced(schema)];
}

function judge(schema: Record<string, unknown>, path: string[]): Found {
  const header = schema["x-mcp-header"];
  const at = path.join(".");
  if (typeof header !== "string" || !token.test(header))
    return { problem: `\`x-mcp-header\` of ${at} is not a header name` };
  if (path.length === 0 || !primitives.has(String(schema["type"])))
    return { problem: `\`x-mcp-header\` of ${at || "the root"} is not on a string, integer or boolean` };
  return { path, header };
}

/** Finds declarations inside arrays and alternatives, which have no fixed path in the arguments. */
function misplaced(schema: Record<string, unknown>): Found[] {
  const places = [
    "items",
    "prefixItems",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "additionalProperties",
    "patternProperties",
  ];
  const isHidden = places.some(
    (place) => schema[place] !== undefined && JSON.stringify(schema[place]).includes('"x-mcp-header"'),
  );
  return isHidden ? [{ problem: "`x-mcp-header` is on a parameter without a fixed path" }] : [];
}

/** The headers for one call, with unencoded values; an absent parameter has no header. */
export function paramHeaderValues(schema: unknown, args: unknown): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { path, header } of paramHeaders(schema)) {
    const value = paramValue(args, path);
    if (value !== undefined) headers[`Mcp-Param-${header}`] = String(value);
  }
  return headers;
}

/** The value of such a parameter in the arguments of a call; undefined if it is absent or null. */
export function paramValue(args: unknown, path: readonly string[]): string | number | boolean | undefined {
  let value: unknown = args;
  for (const step of path) value = isRecord(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? value
    : undefined;
}
