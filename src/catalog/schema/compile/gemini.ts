import type { Path } from "../../../config/documents/document.ts";
import { isRecord } from "../../../lib/record.ts";
import { Inexpressible, orLeaveOut, rareKeywords, type Work } from "./work.ts";
import { equalityKey } from "../equality.ts";
import { flattenRoot } from "./flatten-root.ts";
import { formOf, typesOf, type Form } from "../form.ts";
import { propertiesOf, requiredOf, setMember } from "./merge-schemas.ts";
import type { Schema } from "./tidy.ts";
import { preview, previewList, typeName } from "../wording.ts";

/**
 * Function declarations accept a subset of OpenAPI 3.0: no references, no tuples, one type per schema, enums of strings
 * only, `items` for every array, and no keywords beside `anyOf`.
 */
export function compileForGemini(work: Work): Schema {
  const write: Write = (schema, path, expanded) =>
    writeForm(formOf(schema, path, work, expanded), path, work, write);
  const { type, properties, ...rest } = write(flattenRoot(work), [], new Set([work.root]));
  return { type: type ?? "object", properties: properties ?? {}, ...rest };
}

type Write = (schema: unknown, path: Path, expanded: ReadonlySet<object>) => Schema;

const formats: Record<string, string[]> = {
  string: ["date-time", "enum"],
  number: ["float", "double"],
  integer: ["int32", "int64"],
};
const keptKeywords: Record<string, string[]> = {
  string: ["pattern", "minLength", "maxLength"],
  number: ["minimum", "maximum"],
  integer: ["minimum", "maximum"],
  array: ["minItems", "maxItems"],
  object: ["minProperties", "maxProperties"],
};
const lost = [...rareKeywords, "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];

function writeForm(form: Form, path: Path, work: Work, write: Write): Schema {
  const { annotations } = form;
  switch (form.kind) {
    case "never":
      throw new Inexpressible(path, "it allows no value");
    case "any":
      work.note(path, "It allows any value, but objects and arrays are excluded here.");
      return besides(annotations, { anyOf: [{ type: "string" }, { type: "number" }, { type: "boolean" }] });
    case "reference": {
      const { target, expanded } = form;
      if (!isRecord(target))
        return writeForm({ ...form, kind: target === false ? "never" : "any" }, path, work, write);
      if (!expanded.has(target))
        return besides(annotations, write(target, path, new Set([...expanded, target])));
      work.note(path, "The schema is recursive; from here on any object is accepted.");
      const isList = typesOf(target).includes("array");
      return {
        ...annotations,
        ...(isList ? { type: "array", items: { type: "object" } } : { type: "object" }),
      };
    }
    case "union":
      return writeUnion(form, path, work, write);
    case "typed": {
      const types = form.types.filter((type) => type !== "null");
      const branches = (types.length === 0 ? ["string"] : types).map((type) =>
        writeType(type, form, path, work, write),
      );
      work.noteLost(form.node, lost, path);
      return besides(annotations, together(branches, types.length < form.types.length));
    }
  }
}

function writeUnion(form: Form & { kind: "union" }, path: Path, work: Work, write: Write): Schema {
  const { branches, keyword, annotations } = form;
  if (keyword === "oneOf")
    work.note([...path, keyword], "oneOf became anyOf: several alternatives may match.");
  const isNull = (branch: unknown) =>
    isRecord(branch) && (branch["type"] === "null" || branch["const"] === null);
  const written = branches.flatMap((branch, index) => {
    if (isNull(branch)) return [];
    const here = [...path, keyword, index];
    const leftOut = (reason: string) => work.note(here, `The alternative was left out: ${reason}.`);
    const made = orLeaveOut(() => write(branch, here, form.expanded), leftOut);
    return made === undefined ? [] : [made];
  });
  if (written.length === 0) throw new Inexpressible(path, "none of its alternatives can be expressed");
  return besides(annotations, together(written, branches.some(isNull)));
}

/** Combines schemas and flattens nested unions. `anyOf` allows no other keywords, so `nullable` moves to a branch. */
function together(schemas: readonly Schema[], isNullable: boolean): Schema {
  const flat = schemas.flatMap((schema) =>
    Array.isArray(schema["anyOf"]) ? (schema["anyOf"] as Schema[]) : [schema],
  );
  const [first = {}, ...others] = [...new Map(flat.map((one) => [equalityKey(one), one])).values()];
  const head = isNullable ? { ...first, nullable: true } : first;
  return others.length === 0 ? head : { anyOf: [head, ...others] };
}

/** Adds title and description to the schema, or to its branches if it is a union. */
function besides(annotations: Schema, schema: Schema): Schema {
  if (Object.keys(annotations).length === 0) return schema;
  const { anyOf } = schema;
  if (!Array.isArray(anyOf)) return { ...schema, ...annotations, ...joined(annotations, schema) };
  return { anyOf: (anyOf as Schema[]).map((branch) => ({ ...annotations, ...branch })) };
}

function joined({ description: outer }: Schema, { description: inner }: Schema): Schema {
  if (typeof outer !== "string" || typeof inner !== "string" || outer === inner) return {};
  return { description: `${outer} ${inner}` };
}

function writeType(
  type: string,
  form: Form & { kind: "typed" },
  path: Path,
  work: Work,
  write: Write,
): Schema {
  const { node, expanded } = form;
  const kept: Schema = { type };
  for (const keyword of keptKeywords[type] ?? []) if (keyword in node) kept[keyword] = node[keyword];
  const { format } = node;
  if (typeof format === "string" && formats[type]?.includes(format)) kept["format"] = format;
  else if (format !== undefined)
    work.note([...path, "format"], `The format ${preview(format)} is not supported.`);
  if (type === "object") return { ...kept, ...writeMembers(node, path, expanded, work, write) };
  if (type === "array") return { ...kept, ...writeItems(node, path, expanded, work, write) };
  return { ...kept, ...writeValues(type, node, path, work) };
}

/** Only strings can be enumerated; other values are listed in the description. */
function writeValues(type: string, node: Schema, path: Path, work: Work): Schema {
  const all = Array.isArray(node["enum"]) ? node["enum"] : "const" in node ? [node["const"]] : undefined;
  if (all === undefined) return {};
  const values = all.filter(
    (value) => typeName(value) === type || (type === "integer" && typeof value === "number"),
  );
  if (type === "string" && values.length > 0) {
    const named = values.filter((value) => value !== "");
    if (named.length < values.length)
      work.note([...path, "enum"], "The empty string cannot be one of the values.");
    return named.length === 0 ? {} : { enum: named };
  }
  if (values.length === 0) return {};
  work.note([...path, "enum"], "Only strings can be enumerated; the description lists the values.");
  return { description: `Must be ${previewList(values)}.` };
}

function writeMembers(
  node: Schema,
  path: Path,
  expanded: ReadonlySet<object>,
  work: Work,
  write: Write,
): Schema {
  const described = propertiesOf(node);
  const required = requiredOf(node);
  const properties: Schema = {};
  if (isRecord(node["additionalProperties"]))
    work.note([...path, "additionalProperties"], "The schema for unnamed properties was left out.");
  for (const name of new Set([...Object.keys(described), ...required])) {
    const schema = Object.hasOwn(described, name) ? described[name] : true;
    const here = [...path, "properties", name];
    if (required.includes(name)) {
      setMember(properties, name, write(schema, here, expanded));
      continue;
    }
    const written = orLeaveOut(
      () => write(schema, here, expanded),
      (reason) => schema === false || work.note(here, `The optional property was left out: ${reason}.`),
    );
    if (written !== undefined) setMember(properties, name, written);
  }
  if (Object.keys(properties).length === 0) return {};
  return { properties, ...(required.length === 0 ? {} : { required }) };
}

function writeItems(
  node: Schema,
  path: Path,
  expanded: ReadonlySet<object>,
  work: Work,
  write: Write,
): Schema {
  const { prefixItems, items } = node;
  if (!Array.isArray(prefixItems)) return { items: write(items ?? true, [...path, "items"], expanded) };
  work.note([...path, "prefixItems"], "Items by position became items that may match any of these schemas.");
  const kinds = prefixItems.map((item, index) => write(item, [...path, "prefixItems", index], expanded));
  if (items !== undefined && items !== false) kinds.push(write(items, [...path, "items"], expanded));
  return { items: together(kinds, false), ...(items === false ? { maxItems: prefixItems.length } : {}) };
}
