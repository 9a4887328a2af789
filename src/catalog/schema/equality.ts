import type { Run } from "./run.ts";

/**
 * A string that is the same for equal JSON values and different for others, whatever the order of their members.
 * Looking these strings up in a set keeps `uniqueItems` and large enums from taking quadratic time.
 */
export function equalityKey(value: unknown, run?: Run): string {
  if (typeof value !== "object" || value === null) {
    run?.spend(1 + (typeof value === "string" ? value.length >> 6 : 0));
    return JSON.stringify(value) ?? "undefined";
  }
  run?.enter();
  const key = Array.isArray(value)
    ? `[${value.map((item) => equalityKey(item, run)).join(",")}]`
    : `{${Object.keys(value)
        .sort()
        .map(
          (name) => `${JSON.stringify(name)}:${equalityKey((value as Record<string, unknown>)[name], run)}`,
        )
        .join(",")}}`;
  if (run !== undefined) run.depth--;
  return key;
}

/** Returns a test for membership in a fixed list of JSON values. */
export function membership(values: readonly unknown[]): (value: unknown, run: Run) => boolean {
  const scalars = new Set(values.filter((value) => typeof value !== "object" || value === null));
  const others = values.filter((value) => typeof value === "object" && value !== null);
  let keys: Set<string> | undefined;
  return (value, run) => {
    if (typeof value !== "object" || value === null) return scalars.has(value);
    if (others.length === 0) return false;
    keys ??= new Set(others.map((other) => equalityKey(other)));
    return keys.has(equalityKey(value, run));
  };
}
