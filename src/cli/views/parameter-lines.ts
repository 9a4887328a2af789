import { isRecord } from "../../lib/record.ts";
import type { Line } from "../terminal/live-area.ts";
import { safe } from "../terminal/print.ts";
import {
  allowedValues,
  itemSchema,
  propertiesOf,
  requiredOf,
  resolveSchema,
  typesOf,
} from "../arguments/schema-parts.ts";
import type { Schema } from "../arguments/schema-parts.ts";
import { wrapText } from "../terminal/text-width.ts";

const maxDepth = 4;

/** A tool's parameters: name, type, limits and description, with nested ones indented. */
export function parameterLines(schema: unknown, root: Schema, width: number, depth = 0): Line[] {
  const required = requiredOf(schema, root);
  const properties = propertiesOf(schema, root);
  const indent = "  ".repeat(depth + 1);
  const sorted = properties.sort(([a], [b]) => Number(required.has(b)) - Number(required.has(a)));
  return sorted.flatMap(([name, part]) => {
    const own = resolveSchema(part, root);
    const isRequired = required.has(name);
    const facts = [typeWords(part, root), ...(isRequired ? ["required"] : []), ...limits(own)].join(", ");
    const room = Math.max(20, width - indent.length - 4);
    const [first = "", ...more] = wrapText(`${safe(name)}  ${safe(facts)}`, room);
    return [
      [
        { text: indent },
        { text: safe(name), style: isRequired ? "bold" : undefined },
        { text: first.slice(safe(name).length), style: "dim" },
      ],
      ...more.map((text): Line => [{ text: `${indent}    ${text}`, style: "dim" }]),
      ...describe(own, room).map((text): Line => [{ text: `${indent}    ${text}` }]),
      ...inner(part, root, width, depth),
    ] satisfies Line[];
  });
}

function describe({ description }: Schema, room: number): string[] {
  if (typeof description !== "string" || description.trim() === "") return [];
  return description
    .trim()
    .split(/\r?\n/)
    .flatMap((line) => wrapText(safe(line.trim()), room));
}

function inner(part: unknown, root: Schema, width: number, depth: number): Line[] {
  const types = typesOf(part, root);
  const content = types.has("array") ? itemSchema(part, root) : part;
  if (propertiesOf(content, root).length === 0) return [];
  if (depth + 1 < maxDepth) return parameterLines(content, root, width, depth + 1);
  return [[{ text: `${"  ".repeat(depth + 2)}…`, style: "dim" }]];
}

/** `string`, `array of string`, `"fast" or "slow"`, `string (date)`. */
function typeWords(schema: unknown, root: Schema, depth = 0): string {
  const own = resolveSchema(schema, root);
  const allowed = allowedValues(schema, root);
  if (allowed.length > 0) return choices(allowed);
  const types = [...typesOf(schema, root)].map((type) => {
    if (type !== "array") return type;
    const item = itemSchema(schema, root);
    return item === undefined || depth >= maxDepth ? "array" : `array of ${typeWords(item, root, depth + 1)}`;
  });
  const words = types.length === 0 ? "any" : types.join(" or ");
  return typeof own["format"] === "string" ? `${words} (${own["format"]})` : words;
}

function choices(values: readonly unknown[]): string {
  const shown = values.slice(0, 12).map((value) => JSON.stringify(value));
  const rest = values.length - shown.length;
  return rest > 0 ? `${shown.join(", ")} or ${rest} others` : shown.join(" or ");
}

function limits(schema: Schema): string[] {
  const { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below, pattern } = schema;
  const words = [
    range(minimum, maximum, ""),
    typeof above === "number" ? `more than ${above}` : "",
    typeof below === "number" ? `less than ${below}` : "",
    range(schema["minLength"], schema["maxLength"], " characters"),
    range(schema["minItems"], schema["maxItems"], " items"),
    typeof pattern === "string" && pattern.length <= 100 ? `matching ${pattern}` : "",
    schema["default"] === undefined ? "" : `default ${shortJson(schema["default"])}`,
    schema["deprecated"] === true ? "deprecated" : "",
  ];
  return words.filter((word) => word !== "");
}

function range(least: unknown, most: unknown, unit: string): string {
  const hasLeast = typeof least === "number";
  const hasMost = typeof most === "number";
  if (hasLeast && hasMost) return `${least} to ${most}${unit}`;
  if (hasLeast) return `at least ${least}${unit}`;
  return hasMost ? `at most ${most}${unit}` : "";
}

function shortJson(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 60 ? (isRecord(value) ? "{…}" : `${text.slice(0, 57)}…`) : text;
}
