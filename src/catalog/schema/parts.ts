import type { Plan } from "./match/plan.ts";
import type { Check } from "./run.ts";

/** Access to the rest of the document for the checks of one keyword. */
export interface Parts {
  /** The check for a schema; created when a value first reaches it, so recursive schemas work. */
  check(schema: unknown): Check;
  /** The plan for a referenced schema; always the same object. */
  plan(schema: unknown): Plan;
  /** The target of a schema's `$ref`, `$dynamicRef` or `$recursiveRef`. */
  target(schema: Record<string, unknown>): unknown;
  /** Follows references that have no keywords beside them; returns any other schema unchanged. */
  follow(schema: unknown): unknown;
  /** True if, in this draft, a reference overrides all keywords beside it. */
  isReplaced(schema: Record<string, unknown>): boolean;
}

/** Keywords that do not restrict a value. */
export const annotations: ReadonlySet<string> = new Set(
  (
    "title description default examples format deprecated readOnly writeOnly " +
    "$comment $schema $id $anchor $dynamicAnchor $defs definitions"
  ).split(" "),
);

export const always: Check = () => true;

export const referenceKeywords: readonly string[] = ["$ref", "$dynamicRef", "$recursiveRef"];

export function referenceIn(schema: Record<string, unknown>): string | undefined {
  const reference = schema["$ref"] ?? schema["$dynamicRef"] ?? schema["$recursiveRef"];
  return typeof reference === "string" ? reference : undefined;
}
