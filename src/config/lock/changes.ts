import { canonicalJson } from "../../lib/canonical.ts";
import { mainFields } from "../../lib/definition-fields.ts";
import { isRecord } from "../../lib/record.ts";

/** One place in which a definition differs from the pinned one. A missing side is absent. */
export interface FieldChange {
  /** For example `inputSchema.properties.path.description`; empty for the whole. */
  path: string;
  before?: unknown;
  after?: unknown;
}

/** What is different: first what matters most in a definition, then in the order of the paths. */
export function fieldChanges(before: unknown, after: unknown, path = ""): FieldChange[] {
  if (isRecord(before) && isRecord(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
    const inOrder =
      path === ""
        ? [
            ...mainFields.filter((key) => keys.includes(key)),
            ...keys.filter((key) => !mainFields.includes(key)),
          ]
        : keys;
    return inOrder.flatMap((key) => memberChanges(before, after, key, path));
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length && hasObjects(before))
    return before.flatMap((item, at) => fieldChanges(item, after[at], `${path}[${at}]`));
  return canonicalJson(before) === canonicalJson(after) ? [] : [{ path, before, after }];
}

function memberChanges(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
  key: string,
  path: string,
): FieldChange[] {
  // No name may look like a path into another one.
  const isPlain = /^[^\s.[\]"]+$/.test(key);
  const here = !isPlain ? `${path}[${JSON.stringify(key)}]` : path === "" ? key : `${path}.${key}`;
  const [was, is] = [Object.hasOwn(before, key), Object.hasOwn(after, key)];
  if (was && is) return fieldChanges(before[key], after[key], here);
  return [{ path: here, ...(was && { before: before[key] }), ...(is && { after: after[key] }) }];
}

function hasObjects(items: readonly unknown[]): boolean {
  return items.some((item) => typeof item === "object" && item !== null);
}

const known = new Set([
  "title",
  "description",
  "inputSchema",
  "outputSchema",
  "annotations",
  "icons",
  "_meta",
  "arguments",
  "mimeType",
  "execution",
]);

/** The changed fields for a sentence. Names that a server made up are not repeated: models read it too. */
export function changedFields(before: unknown, after: unknown): string {
  const [old, now] = [isRecord(before) ? before : {}, isRecord(after) ? after : {}];
  const names = new Set([...Object.keys(old), ...Object.keys(now)]);
  const isSame = (name: string) =>
    Object.hasOwn(old, name) === Object.hasOwn(now, name) &&
    canonicalJson(old[name]) === canonicalJson(now[name]);
  const changed = [...names].filter((name) => !isSame(name)).sort();
  const shown = changed.filter((name) => known.has(name));
  return [...shown, ...(shown.length < changed.length ? ["other fields"] : [])].join(", ");
}
