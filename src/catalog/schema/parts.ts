import type { Check } from "./run.ts";

/** What the checks of one keyword need to know about the rest of the document. */
export interface Parts {
  /** The check for a schema; made when a value first reaches it, so recursion is no problem. */
  check(schema: unknown): Check;
  /** What a schema's `$ref` (or its dynamic and recursive cousins) points at. */
  target(schema: Record<string, unknown>): unknown;
}

export const always: Check = () => true;

export function referenceIn(schema: Record<string, unknown>): string | undefined {
  const reference = schema["$ref"] ?? schema["$dynamicRef"] ?? schema["$recursiveRef"];
  return typeof reference === "string" ? reference : undefined;
}
