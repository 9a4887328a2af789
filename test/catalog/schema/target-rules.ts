import { Ajv2020 } from "ajv/dist/2020.js";
import { subschemasOf } from "../../../src/catalog/schema/subschemas.ts";
import type { SchemaTarget } from "../../../src/catalog/schema/compile/compile.ts";
import type { Schema } from "./arbitraries.ts";

const metaschema = new Ajv2020({ strict: false, validateFormats: false, logger: false });

/** Finds violations of a target's rules in a compiled schema, based on the APIs' documentation and error messages. */
export function brokenRules(root: Schema, target: SchemaTarget): string[] {
  const problems: string[] = [];
  const say = (problem: string, node: unknown) => problems.push(`${problem}: ${JSON.stringify(node)}`);
  if (root["type"] !== "object") say("the root is no object", root);
  if (!isObject(root["properties"]) && !root["$ref"]) say("the root has no properties", root);
  if (target !== "json-schema")
    for (const keyword of ["$ref", "anyOf", "oneOf", "allOf", "not", "enum"])
      if (keyword in root) say(`${keyword} at the root`, root);
  if (target !== "gemini" && !metaschema.validateSchema(root))
    say("no JSON Schema of 2020-12", metaschema.errors);
  const definitions = Object.keys((root["$defs"] as object | undefined) ?? {}).map(
    (name) => `#/$defs/${name}`,
  );
  for (const node of nodesOf(root)) {
    const reference = isObject(node) ? node["$ref"] : undefined;
    const isKnown = reference === undefined || reference === "#" || definitions.includes(reference as string);
    if (!isKnown && target !== "json-schema") say("a reference to nothing", node);
  }
  for (const node of nodesOf(root)) rules[target](node, say);
  return problems;
}

type Say = (problem: string, node: unknown) => void;

const rules: Record<SchemaTarget, (node: unknown, say: Say) => void> = {
  "json-schema": () => undefined,
  openai(node, say) {
    if (isObject(node) && [node["type"]].flat().includes("array") && node["items"] === undefined)
      say("a list without items", node);
  },
  anthropic(node, say) {
    if (isObject(node) && Array.isArray(node["items"])) say("items is a list", node);
  },
  "openai-strict"(node, say) {
    if (!isObject(node)) return say("a boolean schema", node);
    for (const keyword of Object.keys(node))
      if (!strictKeywords.has(keyword)) say(`${keyword} is not permitted`, node);
    if (node["type"] === undefined && !node["anyOf"] && !node["$ref"]) say("no type", node);
    if (node["$ref"] !== undefined && Object.keys(node).length > 1) say("keywords beside $ref", node);
    const types = [node["type"]].flat();
    if (types.includes("array") && !isObject(node["items"])) say("a list without items", node);
    if (!types.includes("object")) return;
    if (node["additionalProperties"] !== false) say("an open object", node);
    const names = Object.keys(node["properties"] as object).sort();
    if (JSON.stringify([...(node["required"] as string[])].sort()) !== JSON.stringify(names))
      say("not all required", node);
  },
  gemini(node, say) {
    if (!isObject(node)) return say("a boolean schema", node);
    for (const keyword of Object.keys(node))
      if (!geminiKeywords.has(keyword)) say(`unknown name ${keyword}`, node);
    if (node["anyOf"] !== undefined) {
      if (Object.keys(node).length > 1) say("anyOf must stand alone", node);
      return;
    }
    const { type } = node;
    if (typeof type !== "string" || type === "null") return say("no single type", node);
    if (type === "array" && !isObject(node["items"])) say("items: missing field", node);
    const values = node["enum"];
    if (
      values !== undefined &&
      (type !== "string" ||
        !(values as unknown[]).every((value) => typeof value === "string" && value !== ""))
    )
      say("enum: only allowed for STRING type", node);
    for (const name of (node["required"] as string[] | undefined) ?? [])
      if (!Object.hasOwn((node["properties"] as object | undefined) ?? {}, name))
        say(`required: ${name} is not defined`, node);
    const format = node["format"];
    if (
      format !== undefined &&
      !["date-time", "enum", "float", "double", "int32", "int64"].includes(format as string)
    )
      say("format", node);
  },
};

const strictKeywords = new Set(
  "type properties required additionalProperties items anyOf $ref $defs enum const title description pattern format multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minItems maxItems".split(
    " ",
  ),
);
const geminiKeywords = new Set(
  "type format title description nullable enum maxItems minItems properties required minProperties maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum".split(
    " ",
  ),
);

function nodesOf(root: Schema): unknown[] {
  const found: unknown[] = [];
  const open: unknown[] = [root];
  while (open.length > 0) {
    const node = open.pop();
    found.push(node);
    // `additionalProperties: false` is a keyword of its object, not a separate schema.
    if (isObject(node))
      for (const inner of subschemasOf(node))
        if (inner.keyword !== "additionalProperties" || isObject(inner.schema)) open.push(inner.schema);
  }
  return found;
}

function isObject(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
