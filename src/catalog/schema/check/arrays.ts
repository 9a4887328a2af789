import { isRecord } from "../../../lib/record.ts";
import { always, type Parts } from "../parts.ts";
import { equalityKey } from "../equality.ts";
import type { Check, Run } from "../run.ts";
import { plural } from "../wording.ts";

export function arrayChecks(schema: Record<string, unknown>, parts: Parts): Check[] {
  return [
    ...countChecks(schema, "minItems", "maxItems", "item", (value) =>
      Array.isArray(value) ? value.length : undefined,
    ),
    ...itemChecks(schema, parts),
    ...rareArrayChecks(schema, parts),
  ];
}

/** The checks for keywords that plans do not cover. */
export function rareArrayChecks(schema: Record<string, unknown>, parts: Parts): Check[] {
  return [
    ...(schema["contains"] === undefined ? [] : [containsCheck(schema, parts)]),
    ...(schema["uniqueItems"] === true ? [uniqueCheck] : []),
  ];
}

/** Limits the number of items or properties; `count` returns undefined for values that have neither. */
export function countChecks(
  schema: Record<string, unknown>,
  least: string,
  most: string,
  word: string,
  count: (value: unknown) => number | undefined,
): Check[] {
  const words = word === "property" ? "properties" : `${word}s`;
  const bound = (
    keyword: string,
    phrase: string,
    holds: (found: number, limit: number) => boolean,
  ): Check[] => {
    const limit = schema[keyword];
    if (typeof limit !== "number") return [];
    return [
      (value, run) => {
        const found = count(value);
        if (found === undefined || holds(found, limit)) return true;
        const expected = `${phrase} ${plural(limit, word, words)}`;
        return run.fail(`must have ${expected}`, { expected, found: plural(found, word, words) });
      },
    ];
  };
  return [
    ...bound(least, "at least", (found, limit) => found >= limit),
    ...bound(most, "at most", (found, limit) => found <= limit),
  ];
}

/** `prefixItems` and `items`, or the `items` list and `additionalItems` of older drafts. */
function itemChecks(schema: Record<string, unknown>, parts: Parts): Check[] {
  const { first, rest } = itemSchemas(schema);
  if (first.length === 0 && rest === undefined) return [];
  const firstChecks = first.map((item) => parts.check(item));
  const restCheck = rest === undefined ? always : parts.check(rest);
  return [
    (value, run) => {
      if (!Array.isArray(value)) return true;
      const end = restCheck === always ? Math.min(value.length, firstChecks.length) : value.length;
      let holds = true;
      for (let index = 0; index < end; index++) {
        run.path.push(index);
        const isFine = (firstChecks[index] ?? restCheck)(value[index], run);
        run.path.pop();
        if (isFine) continue;
        if (run.hasEnough) return false;
        holds = false;
      }
      return holds;
    },
  ];
}

export function itemSchemas(schema: Record<string, unknown>): { first: unknown[]; rest: unknown } {
  const { prefixItems, items, additionalItems } = schema;
  if (Array.isArray(items)) return { first: items, rest: additionalItems };
  return { first: Array.isArray(prefixItems) ? prefixItems : [], rest: isSchema(items) ? items : undefined };
}

function isSchema(value: unknown): boolean {
  return typeof value === "boolean" || isRecord(value);
}

function containsCheck(schema: Record<string, unknown>, parts: Parts): Check {
  const check = parts.check(schema["contains"]);
  const least = typeof schema["minContains"] === "number" ? schema["minContains"] : 1;
  const most = typeof schema["maxContains"] === "number" ? schema["maxContains"] : Infinity;
  return (value, run) => {
    if (!Array.isArray(value)) return true;
    const found = run.silently(() => countMatches(value, check, run));
    if (found < least)
      return run.fail(
        least === 1
          ? "must contain an item that matches the `contains` schema"
          : `must contain at least ${least} items that match the \`contains\` schema`,
        { expected: `at least ${least}`, found: String(found) },
      );
    return (
      found <= most ||
      run.fail(`must contain at most ${plural(most, "item")} that match the \`contains\` schema`, {
        expected: `at most ${most}`,
        found: String(found),
      })
    );
  };
}

function countMatches(items: readonly unknown[], check: Check, run: Run): number {
  let found = 0;
  for (const item of items) {
    run.spend(1);
    if (check(item, run)) found++;
  }
  return found;
}

const uniqueCheck: Check = (value, run) => {
  if (!Array.isArray(value) || value.length < 2) return true;
  const seen = new Map<string, number>();
  for (const [index, item] of value.entries()) {
    const key = equalityKey(item, run);
    const before = seen.get(key);
    if (before !== undefined)
      return run.fail(`must not repeat item [${before}]`, { member: index, expected: "unique items" });
    seen.set(key, index);
  }
  return true;
};
