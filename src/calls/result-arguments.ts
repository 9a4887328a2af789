import { PlugboardError } from "../errors.ts";
import { isRecord } from "../lib/record.ts";
import { jsonText } from "./content/parts.ts";
import type { Selection } from "./results/store.ts";

/** The value of a kept result of the same caller. */
export type ReadResult = (handle: string, selection: Selection) => Promise<unknown>;

type Fields = Record<string, unknown>;

const mostReferences = 50;
/** Together; a single result cannot be larger than half of it. */
const mostCharacters = 32 * 1_048_576;

/**
 * Replaces every `{ "$result": handle }` in the arguments of a call, with `part` and `select` if they are there, by what
 * was kept under the handle. Checks and approvals then see the value itself.
 */
export async function withResults(args: Fields, read: ReadResult): Promise<Fields> {
  const copies = new Map<object, object>();
  const references: { holder: Fields; key: string; reference: Fields }[] = [];
  const top = copyOf(args);
  copies.set(args, top);
  for (const copy of copies.values()) {
    const holder = copy as Fields;
    for (const [key, value] of Object.entries(holder)) {
      if (typeof value !== "object" || value === null) continue;
      if (isRecord(value) && Object.hasOwn(value, "$result")) {
        references.push({ holder, key, reference: value });
        continue;
      }
      const known = copies.get(value) ?? copyOf(value);
      copies.set(value, known);
      put(holder, key, known);
    }
  }
  if (references.length > mostReferences)
    throw new PlugboardError(
      "usage-invalid",
      `At most ${mostReferences} results can be arguments of one call.`,
    );
  let characters = 0;
  for (const { holder, key, reference } of references) {
    const value = await valueOf(reference, read);
    characters += (typeof value === "string" ? value : jsonText(value)).length;
    if (characters > mostCharacters)
      throw new PlugboardError("usage-invalid", "The results in the arguments of the call are too large.", {
        advice: 'Take less of each, with "part" or "select".',
      });
    put(holder, key, value);
  }
  return references.length === 0 ? args : top;
}

function copyOf<T extends object>(value: T): T {
  return (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as T;
}

function put(holder: Fields, key: string, value: unknown): void {
  Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
}

function valueOf({ $result: handle, part, select, ...others }: Fields, read: ReadResult): Promise<unknown> {
  const isSelect = select === undefined || typeof select === "string" || isTexts(select);
  const isPart = part === undefined || typeof part === "string";
  if (typeof handle === "string" && isPart && isSelect && Object.keys(others).length === 0)
    return read(handle, { part, select });
  throw new PlugboardError("usage-invalid", "An argument with `$result` is not valid.", {
    advice:
      'Write { "$result": "r_…" }, with "part" and "select" (JSON pointers) if you want less than all of it.',
  });
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}
