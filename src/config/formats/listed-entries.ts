import { isRecord } from "../../lib/record.ts";
import type { Found } from "./client-format.ts";
import type { Skipped } from "./format.ts";

/** Servers in a list, each with its name inside. */
export function listedEntries(value: unknown, key: string, nameField: string): Found {
  if (value === undefined || value === null) return { entries: [] };
  if (!Array.isArray(value))
    return { entries: [], skipped: [{ name: key, reason: `\`${key}\` is not a list` }] };
  const entries: [string, unknown][] = [];
  const skipped: Skipped[] = [];
  for (const [index, entry] of (value as unknown[]).entries()) {
    const name = isRecord(entry) ? entry[nameField] : undefined;
    if (typeof name === "string" && name !== "") entries.push([name, entry]);
    else skipped.push({ name: `${key}[${index}]`, reason: `it has no \`${nameField}\`` });
  }
  return { entries, skipped };
}
