import { canonicalJson } from "../../lib/canonical.ts";
import { isRecord } from "../../lib/record.ts";
import { looksSecret } from "../../lib/secret-words.ts";
import type { ServerConfig } from "../server-schema.ts";

type Entry = Record<string, unknown>;

/** What a person decided about one program or host. */
export const decided: readonly (keyof ServerConfig)[] = ["approval"];

/** True if the two are remote servers on different hosts, or may be, because a host is a variable. */
export function isOtherHost(theirs: ServerConfig, ours: ServerConfig): boolean {
  if (theirs.url === undefined || ours.url === undefined || theirs.url === ours.url) return false;
  const origin = URL.parse(theirs.url)?.origin;
  return origin === undefined || origin !== URL.parse(ours.url)?.origin;
}

/** True if the two start different programs, or only one of them starts one. */
export function isOtherProgram(theirs: ServerConfig, ours: ServerConfig): boolean {
  return theirs.command !== ours.command;
}

/**
 * A client's entry without what says one of these things of it: credentials that a person entered for one host must
 * not go to another one, and neither must leave to call tools unasked. `readAs` reads an entry as the client does.
 */
export function withoutFields(
  entry: Entry,
  fields: readonly (keyof ServerConfig)[],
  readAs: (entry: Entry) => ServerConfig | undefined,
): Entry {
  if (fields.length === 0) return entry;
  // No client has entries with so many fields, and each is tried in turn.
  if (Object.keys(entry).length > 100) return {};
  let kept = entry;
  for (const [field, value] of Object.entries(entry)) {
    const { [field]: _left, ...others } = kept;
    const [before, after] = [readAs(kept), readAs(others)];
    const saysOne =
      before &&
      after &&
      fields.some((one) => canonicalJson(before[one] ?? null) !== canonicalJson(after[one] ?? null));
    const isNamedSo =
      (fields.includes("headers") && isForSending(field, value)) ||
      (fields.includes("approval") && /^(trust|yolo|auto_?approve|always_?allow)$/i.test(field));
    if (saysOne || isNamedSo) kept = others;
  }
  return kept;
}

/** By their names, because a client may have fields that Plugboard does not know. */
function isForSending(field: string, value: unknown): boolean {
  if (looksSecret(field) || /header/i.test(field)) return true;
  return isRecord(value) && Object.entries(value).some(([name, member]) => isForSending(name, member));
}
