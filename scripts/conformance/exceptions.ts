/** Scenarios that are known to fail, and why. A scenario that passes is reported, so that it can be removed here. */
export const knownToFail: Readonly<Record<string, string>> = {};

/** Scenarios in which the client must refuse, with a pattern that its error must match. */
export const refused: Readonly<Record<string, RegExp>> = {
  "auth/scope-retry-limit": /requires permissions that this login does not have/,
  "auth/resource-mismatch": /is for https:\/\/evil\.example\.com\/mcp/,
  "auth/iss-supported-missing": /does not say who it is from \(iss\)/,
  "auth/iss-wrong-issuer": /is not from .* \(iss\)/,
  "auth/iss-unexpected": /is not from .* \(iss\)/,
  "auth/iss-normalized": /is not from .* \(iss\)/,
  "auth/metadata-issuer-mismatch": /names a different issuer/,
};

/** Scenarios that measure time. If one fails while all the others start, it runs again alone. */
export const timed = /^sse-retry$/;
