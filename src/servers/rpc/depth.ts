import { isDeeperThan } from "../../lib/depth.ts";
import { isRecord } from "../../lib/record.ts";
import { copyExact } from "../../lib/exact-json.ts";

/** What is nested deeper is not used. No real message comes near it. */
export const maxDepth = 500;

const replacement = `(nested deeper than ${maxDepth} levels)`;

/**
 * The message with words in place of the parameters, or the details of an error, that are nested too deeply. A result is
 * left to whoever asked for it: half of one would be worse than none.
 */
export function boundedDepth(
  message: Record<string, unknown>,
  bytes: number | undefined,
): Record<string, unknown> {
  // Every level takes two bytes at least, so most messages need no look.
  if (bytes !== undefined && bytes < 2 * maxDepth) return message;
  const member = "method" in message ? "params" : "error" in message ? "error" : undefined;
  const value = member && message[member];
  return member && isRecord(value) && isDeeperThan(value, maxDepth)
    ? { ...message, [member]: withoutDepth(value) }
    : message;
}

function withoutDepth(value: Record<string, unknown>): Record<string, unknown> {
  const members = Object.entries(value).map(([key, member]) => [
    key,
    isDeeperThan(member, maxDepth - 1) ? replacement : member,
  ]);
  return copyExact(value, Object.fromEntries(members) as Record<string, unknown>);
}
