import { canonicalJson, sha256 } from "../../lib/canonical.ts";
import type { ServerConfig } from "../server-schema.ts";

/**
 * What an entry is recognised by later: a person may change it, or put another server in its place. Hashes, because
 * arguments and URLs can contain secrets.
 */
export function marksOf(name: string, { command, args = [], url }: ServerConfig): string[] {
  const fields = { command, url, args: args.length === 0 ? undefined : args };
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([field, value]) => sha256(canonicalJson([name, field, value])).slice(0, 32));
}
