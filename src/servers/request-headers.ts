import { PlugboardError } from "../errors.ts";
import { isReservedHeader } from "../lib/reserved-header.ts";
import { looksSecret } from "../lib/secret-words.ts";

export type RequestHeaders = Readonly<Record<string, string>>;

/**
 * Headers for one request, with lower-case names. Throws `usage-invalid` for those that the protocol or the connection
 * decides about, and for what no header can hold.
 */
export function requestHeaders(headers: RequestHeaders, server: string): RequestHeaders | undefined {
  const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  for (const [name, value] of named) {
    const problem = isReservedHeader(name)
      ? "is not for callers to set"
      : !isName(name) || !isValue(value)
        ? "is not a valid header"
        : undefined;
    if (problem === undefined) continue;
    const message = `The header ${JSON.stringify(name.slice(0, 100))} for a request to "${server}" ${problem}.`;
    throw new PlugboardError("usage-invalid", message, { server, executed: "no" });
  }
  return named.length === 0 ? undefined : Object.fromEntries(named);
}

/** True if the server may refuse the request because of them: then nothing else is wrong with its connection. */
export function holdCredentials(headers: RequestHeaders | undefined): boolean {
  return headers !== undefined && Object.keys(headers).some(looksSecret);
}

function isName(name: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name);
}

function isValue(value: unknown): boolean {
  return typeof value === "string" && /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}
