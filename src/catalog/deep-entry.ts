import { isDeeperThan } from "../lib/depth.ts";
import { isRecord } from "../lib/record.ts";
import type { RawEntry } from "./known-list.ts";

/** Twice as deep as the schema of a tool may be. An entry that is deeper is set aside. */
const maxEntryDepth = 128;

const mark = "plugboard/set-aside";

/** The field of an entry that is nested too deeply, in words; undefined if none is. */
export function deepField(entry: RawEntry): string | undefined {
  const [field] = Object.entries(entry).find(([, value]) => isDeeperThan(value, maxEntryDepth - 1)) ?? [];
  if (field === undefined) return undefined;
  const words = field === "inputSchema" ? "its input schema" : `its \`${field.slice(0, 60)}\``;
  return `${words} is nested deeper than ${maxEntryDepth} levels`;
}

/** What is left of an entry that cannot be used: its name and other plain fields, and why. */
export function flattened(entry: RawEntry, reason: string): RawEntry {
  const plain = Object.entries(entry).filter(([, value]) => typeof value !== "object");
  return Object.fromEntries([...plain, ["_meta", { [mark]: reason }]]);
}

/** Why an entry was set aside when its list was read; undefined if it was not. */
export function asideReason({ _meta: meta }: RawEntry): string | undefined {
  const reason = isRecord(meta) ? meta[mark] : undefined;
  return typeof reason === "string" ? reason.slice(0, 200) : undefined;
}

export function usableEntries(entries: readonly RawEntry[]): RawEntry[] {
  return entries.filter((entry) => asideReason(entry) === undefined);
}
