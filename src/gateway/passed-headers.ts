import type { Exchange } from "./exchange.ts";

/** Which headers of clients reach which server, and under which name. No other header is passed on. */
export type PassedHeaders = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The headers for a server that came with this request; undefined if none is passed on. */
export function passedHeaders(
  exchange: Exchange,
  server: string,
  passed: PassedHeaders | undefined,
): Record<string, string> | undefined {
  if (!passed || !Object.hasOwn(passed, server)) return undefined;
  const found = Object.entries(passed[server] ?? {}).flatMap(([from, to]) => {
    const value = exchange.header(from.toLowerCase());
    return value === undefined ? [] : [[to, value] as const];
  });
  return found.length > 0 ? Object.fromEntries(found) : undefined;
}
