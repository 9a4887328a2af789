import { canonicalJson } from "../../lib/canonical.ts";
import { isRecord } from "../../lib/record.ts";
import { looksSecret } from "../../lib/secret-words.ts";
import type { ServerConfig } from "../server-schema.ts";

type Entry = Record<string, unknown>;

const sent = ["headers", "headersFromEnv", "bearerTokenEnv", "headersHelper", "oauth", "auth"] as const;

/** True if the two are remote servers on different hosts, or may be, because a host is a variable. */
export function isOtherHost(theirs: ServerConfig, ours: ServerConfig): boolean {
  if (theirs.url === undefined || ours.url === undefined || theirs.url === ours.url) return false;
  const origin = URL.parse(theirs.url)?.origin;
  return origin === undefined || origin !== URL.parse(ours.url)?.origin;
}

/**
 * A client's entry without what it sends to its server: credentials that a person entered for one host must not go
 * to another one. `readAs` reads an entry as the client does.
 */
export function withoutSent(entry: Entry, readAs: (entry: Entry) => ServerConfig | undefined): Entry {
  // No client has entries with so many fields, and each is tried in turn.
  if (Object.keys(entry).length > 100) return {};
  let kept = entry;
  for (const [field, value] of Object.entries(entry)) {
    const { [field]: _left, ...others } = kept;
    const [before, after] = [readAs(kept), readAs(others)];
    const isSent =
      before &&
      after &&
      sent.some((one) => canonicalJson(before[one] ?? null) !== canonicalJson(after[one] ?? null));
    if (isSent || isForSending(field, value)) kept = others;
  }
  return kept;
}

/** By their names, because a client may have fields that Plugboard does not know. */
function isForSending(field: string, value: unknown): boolean {
  if (looksSecret(field) || /header/i.test(field)) return true;
  return isRecord(value) && Object.entries(value).some(([name, member]) => isForSending(name, member));
}
