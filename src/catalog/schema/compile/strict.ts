import type { Path } from "../../../config/documents/document.ts";
import { isRecord } from "../../../lib/record.ts";
import { reference } from "./loose.ts";
import { Inexpressible, orLeaveOut, rareKeywords, type Work } from "./work.ts";
import { equalityKey } from "../equality.ts";
import { flattenRoot } from "./flatten-root.ts";
import { formOf, type Form } from "../form.ts";
import { anyOf, propertiesOf, requiredOf, setMember } from "./merge-schemas.ts";
import { reachable } from "../reachable.ts";
import { refuseLargeStrict } from "./strict-limits.ts";
import type { Schema } from "./tidy.ts";
import { preview } from "../wording.ts";

/**
 * Strict function calling: every object is closed, every property is required, and optional ones are nullable instead.
 * `anyOf`, `$ref` and `$defs` (cycles too) are allowed, and few other keywords. `repairArguments` removes the nulls.
 */
export function compileForOpenAiStrict(work: Work): Schema {
  const definitions = new Map<object, Schema | Inexpressible | undefined>();
  const write: Write = (schema, path, expanded) => {
    const form = formOf(schema, path, work, expanded);
    if (form.kind === "reference" && isRecord(form.target)) define(form.target, form.reference);
    return writeForm(form, path, work, write);
  };
  /** Defined on the first reference, so that an optional property can be dropped if its schema cannot be expressed. */
  const define = (target: object, wish: string): void => {
    const known = definitions.get(target);
    if (known instanceof Inexpressible) throw known;
    if (definitions.has(target) || target === work.root) return;
    definitions.set(target, undefined);
    try {
      definitions.set(target, write(target, ["$defs", work.nameOf(target, wish)], new Set([target])));
    } catch (error) {
      if (error instanceof Inexpressible) definitions.set(target, error);
      throw error;
    }
  };
  const root = write(flattenRoot(work), [], new Set());
  const byName = new Map([...work.named].map(([target, name]) => [name, definitions.get(target)]));
  const $defs = reachable(root, byName);
  const schema = Object.keys($defs).length === 0 ? root : { ...root, $defs };
  refuseLargeStrict(schema);
  return schema;
}

type Write = (schema: unknown, path: Path, expanded: ReadonlySet<object>) => Schema;

const formats = new Set([
  "date-time",
  "time",
  "date",
  "duration",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "uuid",
]);
const numberKeywords = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
const lost = [...rareKeywords, "minLength", "maxLength", "minProperties", "maxProperties"];

function writeForm(form: Form, path: Path, work: Work, write: Write): Schema {
  const { annotations } = form;
  switch (form.kind) {
    case "never":
      throw new Inexpressible(path, "it allows no value");
    case "any":
      if (path.length > 0)
        work.note(path, "It allows any value, but strict mode excludes objects and arrays.");
      return { ...annotations, type: ["string", "number", "boolean", "null"] };
    case "reference": {
      if (!isRecord(form.target))
        return writeForm({ ...form, kind: form.target === false ? "never" : "any" }, path, work, write);
      const { $ref } = reference(form.written, form.reference, work);
      return Object.keys(annotations).length === 0 ? { $ref } : { ...annotations, anyOf: [{ $ref }] };
    }
    case "union":
      return writeUnion(form, path, work, write);
    case "typed":
      return writeTyped(form, path, work, write);
  }
}

function writeUnion(form: Form & { kind: "union" }, path: Path, work: Work, write: Write): Schema {
  const { branches, keyword, annotations } = form;
  if (keyword === "oneOf")
    work.note([...path, keyword], "oneOf became anyOf: several alternatives may match.");
  const written = branches.flatMap((branch, index) => {
    const here = [...path, keyword, index];
    const leftOut = (reason: string) => work.note(here, `The alternative was left out: ${reason}.`);
    const made = orLeaveOut(() => write(branch, here, form.expanded), leftOut);
    return made === undefined ? [] : [made];
  });
  if (written.length === 0) throw new Inexpressible(path, "none of its alternatives can be expressed");
  const distinct = [...new Map(written.map((one) => [equalityKey(one), one])).values()];
  const [only] = distinct;
  if (distinct.length === 1 && only?.["$ref"] === undefined) return { ...only, ...annotations };
  return { ...annotations, anyOf: distinct };
}

function writeTyped(form: Form & { kind: "typed" }, path: Path, work: Work, write: Write): Schema {
  const { types, node, annotations } = form;
  work.noteLost(node, lost, path);
  const isScalar = types.every((type) => type !== "object" && type !== "array");
  if (isScalar)
    return { ...annotations, type: types.length === 1 ? types[0] : types, ...scalars(node, path, work) };
  const written = types.map((type) => {
    if (type === "object") return writeObject(node, path, form.expanded, work, write);
    if (type === "array") return writeArray(node, path, form.expanded, work, write);
    return { type, ...scalars(node, path, work) };
  });
  return written.length === 1 ? { ...annotations, ...written[0] } : { ...annotations, anyOf: written };
}

function scalars(node: Schema, path: Path, work: Work): Schema {
  const kept: Schema = {};
  const { pattern, format, enum: allowed } = node;
  for (const keyword of numberKeywords) if (typeof node[keyword] === "number") kept[keyword] = node[keyword];
  if (typeof format === "string" && formats.has(format)) kept["format"] = format;
  else if (format !== undefined)
    work.note([...path, "format"], `The format ${preview(format)} is not supported in strict mode.`);
  if (typeof pattern === "string" && !/\(\?[=!<]|\\[1-9]/.test(pattern)) kept["pattern"] = pattern;
  else if (pattern !== undefined)
    work.note([...path, "pattern"], "Patterns with look-around are not supported in strict mode.");
  if (Array.isArray(allowed)) kept["enum"] = allowed;
  if ("const" in node) kept["const"] = node["const"];
  return kept;
}

function writeObject(
  node: Schema,
  path: Path,
  expanded: ReadonlySet<object>,
  work: Work,
  write: Write,
): Schema {
  const described = propertiesOf(node);
  const required = requiredOf(node);
  const names = [...new Set([...Object.keys(described), ...required])];
  const isOpen = node["additionalProperties"] !== undefined && node["additionalProperties"] !== false;
  if (names.length === 0 && path.length > 0 && node["additionalProperties"] !== false)
    throw new Inexpressible(path, "strict mode does not allow objects with free-form properties");
  if (isOpen)
    work.note([...path, "additionalProperties"], "Unnamed properties cannot be used in strict mode.");
  const properties: Schema = {};
  for (const name of names) {
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
    if (written !== undefined) setMember(properties, name, nullable(written));
  }
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}

function writeArray(
  node: Schema,
  path: Path,
  expanded: ReadonlySet<object>,
  work: Work,
  write: Write,
): Schema {
  const { prefixItems, items, minItems, maxItems } = node;
  const bounds: Schema = {};
  if (typeof minItems === "number") bounds["minItems"] = minItems;
  if (typeof maxItems === "number") bounds["maxItems"] = maxItems;
  if (!Array.isArray(prefixItems))
    return { type: "array", items: write(items ?? true, [...path, "items"], expanded), ...bounds };
  work.note([...path, "prefixItems"], "Items by position became items that may match any of these schemas.");
  const isClosed = items === false;
  const kinds = prefixItems.map((item, index) => write(item, [...path, "prefixItems", index], expanded));
  if (!isClosed && items !== undefined) kinds.push(write(items, [...path, "items"], expanded));
  return {
    type: "array",
    items: anyOf(kinds),
    ...(isClosed ? { maxItems: prefixItems.length } : {}),
    ...bounds,
  };
}

/** Also allows null, which stands for an omitted property. */
function nullable(schema: Schema): Schema {
  const { type, anyOf: branches, enum: allowed, const: constant, $ref } = schema;
  if ($ref !== undefined) return { anyOf: [schema, { type: "null" }] };
  if (Array.isArray(branches)) {
    const hasNull = branches.some((branch) => isRecord(branch) && [branch["type"]].flat().includes("null"));
    return hasNull ? schema : { ...schema, anyOf: [...(branches as unknown[]), { type: "null" }] };
  }
  const types = [type].flat();
  const { const: _, ...rest } = schema;
  const values = Array.isArray(allowed) ? allowed : "const" in schema ? [constant] : undefined;
  return {
    ...rest,
    type: types.includes("null") ? type : [...types, "null"],
    ...(values === undefined
      ? {}
      : { enum: values.includes(null) ? values : [...(values as unknown[]), null] }),
  };
}
