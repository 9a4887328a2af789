import { PlugboardError } from "../../errors.ts";
import { isRecord } from "../../lib/record.ts";

const mostPointers = 50;
const longestPointer = 1_000;
const mostShown = 10;

/**
 * The values at one or several JSON pointers (RFC 6901). `*` stands for every item of an array, where an item without
 * the value counts as null. One pointer selects the value itself, several an object with a value for each.
 */
export function selectValue(value: unknown, select: string | readonly string[]): unknown {
  const pointers = typeof select === "string" ? [select] : select;
  if (pointers.length === 0 || pointers.length > mostPointers)
    throw new PlugboardError("usage-invalid", `\`select\` takes 1 to ${mostPointers} JSON pointers`);
  if (typeof select === "string" || pointers.length === 1)
    return valueAt(value, stepsOf(pointers[0] ?? ""), 0);
  return Object.fromEntries(pointers.map((pointer) => [pointer, valueAt(value, stepsOf(pointer), 0)]));
}

function stepsOf(pointer: string): string[] {
  if (pointer === "") return [];
  if (!pointer.startsWith("/") || pointer.length > longestPointer) {
    throw new PlugboardError("usage-invalid", `Not a JSON pointer: ${pointer.slice(0, 100)}`, {
      advice:
        "Write the path from the top, for example /items/0/name or /items/*/name; an empty one means everything.",
    });
  }
  const steps = pointer.slice(1).split("/");
  return steps.map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function valueAt(top: unknown, steps: readonly string[], from: number): unknown {
  let value = top;
  for (let at = from; at < steps.length; at++) {
    const step = steps[at] ?? "";
    if (Array.isArray(value) && step === "*")
      return value.map((item: unknown) => valueAt(item, steps, at + 1) ?? null);
    const next = member(value, step);
    if (next === undefined) {
      if (from > 0) return undefined;
      throw missing(value, steps.slice(0, at), step);
    }
    value = next;
  }
  return value;
}

function member(value: unknown, step: string): unknown {
  if (Array.isArray(value)) return /^(0|[1-9]\d{0,15})$/.test(step) ? value[Number(step)] : undefined;
  return isRecord(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}

function missing(value: unknown, before: readonly string[], step: string): PlugboardError {
  const where = before.length === 0 ? "at the top" : `at /${before.join("/")}`;
  const keys = isRecord(value) && !Array.isArray(value) ? Object.keys(value) : [];
  const shown = keys.slice(0, mostShown).map((key) => key.slice(0, 50));
  const more = keys.length > mostShown ? `, and ${keys.length - mostShown} more` : "";
  const there = Array.isArray(value)
    ? `a list of ${value.length}`
    : keys.length > 0
      ? `${shown.join(", ")}${more}`
      : "no fields";
  return new PlugboardError(
    "usage-invalid",
    `The result has no "${step.slice(0, 100)}" ${where.slice(0, 300)}`,
    {
      advice: `There: ${there}.`,
    },
  );
}
