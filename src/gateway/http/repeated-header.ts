import type { IncomingMessage } from "node:http";

/** Headers that decide something here. Whoever stands in between may have gone by the other one of two. */
const single = new Set([
  "host",
  "origin",
  "authorization",
  "content-type",
  "content-encoding",
  "last-event-id",
  "mcp-session-id",
  "mcp-method",
  "mcp-name",
  "mcp-protocol-version",
]);

/**
 * The name of a header that may be sent only once and was sent again, even with the same value: Node.js keeps the first of
 * some and joins others.
 */
export function repeatedHeader(
  { headers, rawHeaders }: Pick<IncomingMessage, "headers" | "rawHeaders">,
  isSingle = (name: string) => single.has(name) || name.startsWith("mcp-param-"),
): string | undefined {
  // The usual case costs little: nothing was joined or left out.
  if (Object.keys(headers).length * 2 === rawHeaders.length) return undefined;
  const seen = new Set<string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? "").toLowerCase();
    if (!isSingle(name)) continue;
    if (seen.has(name)) return name;
    seen.add(name);
  }
  return undefined;
}
