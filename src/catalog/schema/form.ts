import type { Path } from "../../config/documents/document.ts";
import { isRecord } from "../../lib/record.ts";
import type { Work } from "./compile/work.ts";
import { annotationsOf, type Schema } from "./compile/tidy.ts";
import { typeName } from "./wording.ts";

/** A simplified schema, for targets that support neither `allOf` nor keywords beside a union or reference. */
export type Form = {
  annotations: Schema;
  /** The references that were expanded. */ expanded: ReadonlySet<object>;
} & (
  | { kind: "any" }
  | { kind: "never" }
  | { kind: "reference"; reference: string; written: Schema; target: unknown }
  | { kind: "union"; keyword: "anyOf" | "oneOf"; branches: unknown[] }
  | { kind: "typed"; types: string[]; node: Schema }
);

const harmless = new Set([
  "title",
  "description",
  "default",
  "examples",
  "example",
  "deprecated",
  "readOnly",
  "writeOnly",
]);

export function formOf(schema: unknown, path: Path, work: Work, expanded: ReadonlySet<object>): Form {
  const tidied = work.tidy(schema, path);
  if (!isRecord(tidied)) return { kind: tidied ? "any" : "never", annotations: {}, expanded };
  const { allOf, ...beside } = tidied;
  const annotations = annotated(tidied);
  // Some generators use `allOf: [{ $ref }]` to add a description to a reference.
  if (Array.isArray(allOf) && allOf.length === 1 && isHarmless(beside)) {
    const inner = formOf(allOf[0], [...path, "allOf", 0], work, expanded);
    return { ...inner, annotations: { ...inner.annotations, ...annotations } };
  }
  if (typeof tidied["$ref"] === "string" && allOf === undefined) {
    const { $ref, ...siblings } = tidied;
    const target = work.target(schema as Schema);
    const isBare = isHarmless(siblings) || !isRecord(target) || expanded.has(target);
    if (!isHarmless(siblings) && isBare) work.note(path, "The keywords beside the reference were left out.");
    if (isBare)
      return {
        kind: "reference",
        reference: $ref,
        written: schema as Schema,
        target,
        annotations,
        expanded,
      };
  }
  const written = writeOut(tidied, schema, path, work, expanded);
  return settle(written.node, written.expanded, path, work);
}

function settle(node: Schema, expanded: ReadonlySet<object>, path: Path, work: Work): Form {
  const annotations = annotated(node);
  for (const keyword of ["anyOf", "oneOf"] as const) {
    const { [keyword]: branches, ...beside } = node;
    if (!Array.isArray(branches)) continue;
    if (isHarmless(beside)) return { kind: "union", keyword, branches, annotations, expanded };
    const base = Object.fromEntries(Object.entries(beside).filter(([name]) => !harmless.has(name)));
    let seen = expanded;
    const merged = branches.map((branch: unknown, index) => {
      const tidied = work.tidy(branch, [...path, keyword, index]);
      if (!isRecord(tidied)) return tidied ? base : false;
      const written = writeOut(tidied, branch, [...path, keyword, index], work, expanded);
      seen = new Set([...seen, ...written.expanded]);
      return work.both(written.node, base, path);
    });
    return { kind: "union", keyword, branches: merged, annotations, expanded: seen };
  }
  const types = typesOf(node);
  return types.length === 0
    ? { kind: "any", annotations, expanded }
    : { kind: "typed", types, node, annotations, expanded };
}

/** Merges `$ref` and `allOf` into the node. A reference that was already expanded is left out, with a note. */
function writeOut(
  node: Schema,
  original: unknown,
  path: Path,
  work: Work,
  expanded: ReadonlySet<object>,
): { node: Schema; expanded: ReadonlySet<object> } {
  const { $ref, allOf, ...rest } = node;
  let merged: Schema = rest;
  let seen = expanded;
  const add = (schema: unknown, from: Path) => {
    const tidied = work.tidy(schema, from);
    if (!isRecord(tidied)) return;
    const written = writeOut(tidied, schema, from, work, seen);
    seen = written.expanded;
    merged = work.both(merged, written.node, path);
  };
  if ($ref !== undefined) {
    const target = work.target(original as Schema);
    if (isRecord(target) && !seen.has(target)) {
      seen = new Set([...seen, target]);
      add(target, path);
    } else work.note(path, "A recursive reference inside a combination was left out.");
  }
  if (Array.isArray(allOf))
    for (const [index, inner] of allOf.entries()) add(inner, [...path, "allOf", index]);
  return { node: merged, expanded: seen };
}

/** Every target supports descriptions, so a default becomes a sentence in the description. */
function annotated(node: Schema): Schema {
  const annotations = annotationsOf(node);
  if (node["default"] === undefined) return annotations;
  const text = JSON.stringify(node["default"]);
  if (text.length > 200) return annotations;
  const description =
    typeof annotations["description"] === "string" ? `${annotations["description"].trimEnd()} ` : "";
  return { ...annotations, description: `${description}Default: ${text}.` };
}

function isHarmless(schema: Schema): boolean {
  return Object.keys(schema).every((keyword) => harmless.has(keyword) || keyword.startsWith("x-"));
}

const telling: [type: string, keywords: string[]][] = [
  [
    "object",
    ["properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties"],
  ],
  ["array", ["items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems"]],
  ["string", ["pattern", "minLength", "maxLength", "format"]],
  ["number", ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]],
];

/** The types that a schema names, or those implied by its values or keywords. */
export function typesOf(node: Schema): string[] {
  const { type } = node;
  if (type !== undefined) return [type].flat() as string[];
  const values = Array.isArray(node["enum"]) ? node["enum"] : "const" in node ? [node["const"]] : undefined;
  if (values !== undefined) return [...new Set(values.map(typeName))];
  return telling
    .filter(([, keywords]) => keywords.some((keyword) => keyword in node))
    .map(([name]) => name)
    .slice(0, 1);
}
