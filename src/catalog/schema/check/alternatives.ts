import type { Parts } from "../parts.ts";
import { reportClosest } from "../closest.ts";
import { every, type Check, type Finding, type Run } from "../run.ts";
import { orList } from "../wording.ts";

export function alternativeChecks(schema: Record<string, unknown>, parts: Parts): Check[] {
  const { allOf, anyOf, oneOf } = schema;
  const checks: Check[] = [];
  const made = (list: unknown[]) => list.map((inner) => parts.check(inner));
  if (Array.isArray(allOf)) checks.push(every(made(allOf)));
  if (Array.isArray(anyOf) && anyOf.length > 0) checks.push(anyOfCheck(made(anyOf)));
  if (Array.isArray(oneOf) && oneOf.length > 0) checks.push(oneOfCheck(made(oneOf)));
  return [...checks, ...rareAlternativeChecks(schema, parts)];
}

/** The checks for keywords that plans do not cover. */
export function rareAlternativeChecks(schema: Record<string, unknown>, parts: Parts): Check[] {
  const checks: Check[] = [];
  if (schema["not"] !== undefined) checks.push(notCheck(parts.check(schema["not"])));
  if (schema["if"] !== undefined) checks.push(conditionCheck(schema, parts));
  return checks;
}

function anyOfCheck(branches: Check[]): Check {
  return (value, run) => {
    const complaints = attempts(branches, value, run);
    return complaints.some((list) => list === undefined) || reportClosest(complaints as Finding[][], run);
  };
}

function oneOfCheck(branches: Check[]): Check {
  return (value, run) => {
    const complaints = attempts(branches, value, run);
    const matching = [...complaints.keys()].filter((index) => complaints[index] === undefined);
    if (matching.length === 0) return reportClosest(complaints as Finding[][], run);
    if (matching.length === 1) return true;
    const which = orList(matching.map((index) => String(index + 1))).replace(" or ", " and ");
    return run.fail(
      `must match exactly one of ${branches.length} alternatives, but matches numbers ${which}`,
    );
  };
}

/** The findings of each branch; undefined for branches that accept the value. */
function attempts(branches: Check[], value: unknown, run: Run): (Finding[] | undefined)[] {
  return branches.map((branch) => {
    let holds = true;
    const complaints = run.apart(() => (holds = branch(value, run)));
    return holds ? undefined : complaints;
  });
}

function notCheck(check: Check): Check {
  return (value, run) =>
    !run.silently(() => check(value, run)) || run.fail("is a value that the schema does not allow here");
}

function conditionCheck(schema: Record<string, unknown>, parts: Parts): Check {
  const condition = parts.check(schema["if"]);
  const then = parts.check(schema["then"] ?? true);
  const otherwise = parts.check(schema["else"] ?? true);
  return (value, run) => (run.silently(() => condition(value, run)) ? then : otherwise)(value, run);
}
