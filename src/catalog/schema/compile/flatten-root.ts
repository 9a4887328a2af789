import type { Path } from "../../../config/documents/document.ts";
import { isRecord } from "../../../lib/record.ts";
import { Inexpressible, orLeaveOut, type Work } from "./work.ts";
import { anyOfObjects, propertiesOf, requiredOf } from "./merge-schemas.ts";
import type { Schema } from "./tidy.ts";
import { orList, preview } from "../wording.ts";

const sentenceLength = 1_000;

/**
 * APIs require plain named arguments at the root, so references and unions there are expanded: the root gets the
 * properties of all alternatives, requires only what all require, and its description says which belong together.
 */
export function flattenRoot(work: Work): Schema {
  const flat = flatten(work.root, [], work, new Set([work.root]));
  for (const keyword of ["not", "enum", "const"]) {
    if (!(keyword in flat)) continue;
    delete flat[keyword];
    work.note([keyword], `${keyword} is not allowed at the root and was left out.`);
  }
  const properties = propertiesOf(flat);
  return { ...flat, type: "object", properties };
}

/** An object schema without `$ref`, `allOf`, `anyOf` and `oneOf` at the top level. */
function flatten(schema: unknown, path: Path, work: Work, seen: ReadonlySet<object>): Schema {
  const node = work.tidy(schema, path);
  if (!isRecord(node)) {
    if (node) return {};
    throw new Inexpressible(path, "it allows no value");
  }
  const { $ref, allOf, anyOf, oneOf, ...rest } = node;
  let flat: Schema = rest;
  if ($ref !== undefined) {
    const target = work.target(schema as Schema);
    if (!isRecord(target) || seen.has(target))
      throw new Inexpressible(path, `the reference ${preview($ref)} leads nowhere`);
    flat = work.both(flat, flatten(target, path, work, new Set([...seen, target])), path);
  }
  for (const [index, inner] of (Array.isArray(allOf) ? allOf : []).entries())
    flat = work.both(flat, flatten(inner, [...path, "allOf", index], work, seen), path);
  for (const [keyword, branches] of Object.entries({ anyOf, oneOf }))
    if (Array.isArray(branches)) flat = withAlternatives(flat, branches, [...path, keyword], work, seen);
  return flat;
}

function withAlternatives(
  base: Schema,
  branches: readonly unknown[],
  path: Path,
  work: Work,
  seen: ReadonlySet<object>,
): Schema {
  const alternatives = branches.flatMap((branch, index) => {
    const here = [...path, index];
    const leftOut = (reason: string) => work.note(here, `The alternative was left out: ${reason}.`);
    const one = orLeaveOut(() => flatten(branch, here, work, seen), leftOut);
    return one !== undefined && [one["type"] ?? "object"].flat().includes("object") ? [one] : [];
  });
  if (alternatives.length === 0) throw new Inexpressible(path, "none of the alternatives is an object");
  const [only] = alternatives;
  if (only !== undefined && alternatives.length === 1) return work.both(base, only, path);
  const union = anyOfObjects(alternatives);
  // If the base describes a property, drop what single alternatives add: it would be too strict for the others.
  const described = propertiesOf(base);
  const everywhere = ([name]: [string, unknown]) =>
    !Object.hasOwn(described, name) || alternatives.every((one) => Object.hasOwn(propertiesOf(one), name));
  const properties = Object.fromEntries(Object.entries(propertiesOf(union)).filter(everywhere));
  const flat = work.both(base, { ...union, properties }, path);
  const sentence = describe(alternatives, requiredOf(flat), path.at(-1) === "oneOf");
  work.note(
    path,
    "The alternatives were merged into one object; its description says which arguments belong together.",
  );
  const description =
    typeof flat["description"] === "string" ? `${flat["description"].trimEnd()} ${sentence}` : sentence;
  return { ...flat, description };
}

function describe(alternatives: readonly Schema[], always: readonly string[], isExclusive: boolean): string {
  const sets = alternatives.map((one) => {
    const constants = Object.entries(propertiesOf(one)).flatMap(([name, inner]) =>
      isRecord(inner) && "const" in inner ? [`${name} = ${preview(inner["const"])}`] : [],
    );
    const names = requiredOf(one).filter(
      (name) => !always.includes(name) && !constants.some((text) => text.startsWith(`${name} = `)),
    );
    const optional = names.length + constants.length > 0 ? [] : Object.keys(propertiesOf(one)).slice(0, 8);
    const words = [...constants, ...names, ...optional];
    return words.length === 0 ? "nothing else" : words.join(" with ");
  });
  const text = `Give ${isExclusive ? "exactly one" : "at least one"} of these sets of arguments: ${orList([...new Set(sets)].map((set) => `(${set})`))}.`;
  return text.length > sentenceLength ? `${text.slice(0, sentenceLength)}…` : text;
}
