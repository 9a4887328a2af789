import type { Path } from "../../../config/documents/document.ts";
import { isRecord } from "../../../lib/record.ts";
import { definitions, Inexpressible, type Work } from "./work.ts";
import { flattenRoot } from "./flatten-root.ts";
import { propertiesOf, requiredOf, setMember } from "./merge-schemas.ts";
import { holdingOf } from "../subschemas.ts";
import type { Schema } from "./tidy.ts";

/** Non-strict function calling accepts any JSON Schema whose root is a plain object and whose arrays have `items`. */
export function compileForOpenAi(work: Work): Schema {
  return write(flattenRoot(work), work, (node) =>
    [node["type"]].flat().includes("array") && node["items"] === undefined ? { ...node, items: {} } : node,
  );
}

/** The argument names that the Messages API accepts. */
const argumentName = /^[a-zA-Z0-9_.-]{1,64}$/;

/** Tools accept any draft 2020-12 schema whose root is a plain object with plain property names. */
export function compileForAnthropic(work: Work): Schema {
  const root = flattenRoot(work);
  const required = requiredOf(root);
  const kept: Schema = {};
  for (const [name, schema] of Object.entries(propertiesOf(root))) {
    if (argumentName.test(name)) setMember(kept, name, schema);
    else if (required.includes(name))
      throw new Inexpressible(
        ["properties", name],
        "the name of a required argument has characters that are not allowed, or more than 64",
      );
    else
      work.note(
        ["properties", name],
        "Left out: its name has characters that are not allowed, or more than 64.",
      );
  }
  return write({ ...root, properties: kept }, work, (node) => node);
}

/** Rewrites the schema so that every reference points into `$defs`, because its target may have moved. */
function write(root: Schema, work: Work, adjust: (node: Schema) => Schema): Schema {
  const rewrite = (schema: unknown, path: Path): unknown => {
    const node = work.tidy(schema, path);
    if (!isRecord(node)) return node;
    return rewriteInside(node, schema as Schema, path);
  };
  const rewriteInside = (node: Schema, written: Schema, path: Path): Schema => {
    const result: Schema = {};
    for (const [keyword, content] of Object.entries(adjust(node))) {
      const holding = holdingOf(keyword, content);
      if (keyword === "$ref") Object.assign(result, reference(written, String(content), work));
      else if (holding === "schema") result[keyword] = rewrite(content, [...path, keyword]);
      else if (holding === "list" && Array.isArray(content))
        result[keyword] = content.map((inner, index) => rewrite(inner, [...path, keyword, index]));
      else if (holding === "map" && isRecord(content)) {
        const members: Schema = {};
        for (const [name, inner] of Object.entries(content))
          setMember(members, name, Array.isArray(inner) ? inner : rewrite(inner, [...path, keyword, name]));
        result[keyword] = members;
      } else result[keyword] = content;
    }
    return result;
  };
  const written = rewriteInside(root, root, []);
  return { ...written, ...definitions(work, rewrite) };
}

/** The reference in the rewritten schema. */
export function reference(written: Schema, wish: string, work: Work): Schema {
  const target = work.target(written);
  if (target === work.root) return { $ref: "#" };
  if (isRecord(target)) return { $ref: `#/$defs/${work.nameOf(target, wish)}` };
  return target === false ? { not: {} } : {};
}
