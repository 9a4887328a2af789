import type { Plan } from "./match/plan.ts";
import type { Check } from "./run.ts";

/** What the checks of one keyword need to know about the rest of the document. */
export interface Parts {
  /** The check for a schema; made when a value first reaches it, so recursion is no problem. */
  check(schema: unknown): Check;
  /** The plan for a schema that others refer to; the same one whenever it is asked for. */
  plan(schema: unknown): Plan;
  /** What a schema's `$ref` (or its dynamic and recursive cousins) points at. */
  target(schema: Record<string, unknown>): unknown;
  /** The schema that stands behind references without anything beside them; most schemas stand for themselves. */
  follow(schema: unknown): unknown;
  /** True if the draft lets a reference stand for the whole schema, whatever is written beside it. */
  isReplaced(schema: Record<string, unknown>): boolean;
}

/** Keywords that may stand in a schema without asking anything of a value. */
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
