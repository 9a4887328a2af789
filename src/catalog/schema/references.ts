import { isRecord } from "../../lib/record.ts";
import { subschemasOf } from "./subschemas.ts";

export interface References {
  /** The target of a `$ref` in `from`; undefined if the document does not contain it. */
  resolve(reference: string, from: object): unknown;
}

/** The base URI of a document without `$id`. No real schema uses it, and nothing is ever fetched. */
const defaultBase = "plugboard:/schema";

/**
 * Resolves `$ref` within one document: JSON pointers, anchors, and the document's own `$id`s. Indexes the document when
 * the first reference is resolved.
 */
export function createReferences(root: unknown): References {
  let index: Index | undefined;
  return {
    resolve(reference, from) {
      index ??= indexOf(root);
      const target = resolveUri(reference, index.bases.get(from) ?? index.base);
      if (target === undefined) return undefined;
      const hash = target.indexOf("#");
      const resource = hash < 0 ? target : target.slice(0, hash);
      const fragment = hash < 0 ? "" : decode(target.slice(hash + 1));
      const document = index.resources.get(resource);
      if (document === undefined || fragment === "") return document;
      if (fragment.startsWith("/")) return follow(document, fragment);
      return index.anchors.get(`${resource}#${fragment}`);
    },
  };
}

interface Index {
  base: string;
  resources: Map<string, unknown>;
  anchors: Map<string, unknown>;
  /** Only schemas whose base differs from the document's. */
  bases: Map<object, string>;
}

function indexOf(root: unknown): Index {
  const base = (isRecord(root) && baseOf(root, defaultBase)) || defaultBase;
  const index: Index = {
    base,
    resources: new Map([
      [defaultBase, root],
      [base, root],
    ]),
    anchors: new Map(),
    bases: new Map(),
  };
  const open: { schema: unknown; base: string }[] = [{ schema: root, base: defaultBase }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { schema } = next;
    if (!isRecord(schema) || index.bases.has(schema)) continue;
    const here = baseOf(schema, next.base);
    if (here !== next.base && !index.resources.has(here)) index.resources.set(here, schema);
    index.bases.set(schema, here);
    for (const name of anchorsOf(schema)) {
      const key = `${here}#${name}`;
      if (!index.anchors.has(key)) index.anchors.set(key, schema);
    }
    for (const inner of subschemasOf(schema)) open.push({ schema: inner.schema, base: here });
  }
  return index;
}

function baseOf(schema: Record<string, unknown>, base: string): string {
  const id = schema["$id"];
  if (typeof id !== "string" || id.startsWith("#")) return base;
  return resolveUri(id, base)?.replace(/#.*$/, "") ?? base;
}

function anchorsOf(schema: Record<string, unknown>): string[] {
  const { $anchor, $dynamicAnchor, $id } = schema;
  const legacy = typeof $id === "string" && $id.startsWith("#") ? $id.slice(1) : undefined;
  return [$anchor, $dynamicAnchor, legacy].filter(
    (name) => typeof name === "string" && name !== "",
  ) as string[];
}

function resolveUri(reference: string, base: string): string | undefined {
  if (reference.startsWith("#")) return base + reference;
  return URL.canParse(reference, base) ? new URL(reference, base).href : undefined;
}

function decode(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

function follow(document: unknown, pointer: string): unknown {
  let here = document;
  for (const step of pointer.slice(1).split("/")) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, name)) return undefined;
    here = (here as Record<string, unknown>)[name];
  }
  return here;
}
