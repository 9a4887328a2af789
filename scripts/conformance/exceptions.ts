/** Scenarios that are known to fail, and why. One that passes after all is reported, so that it leaves this list. */
export const knownToFail: Readonly<Record<string, string>> = {};

/** Scenarios in which the right thing is to refuse: words of the error that the client has to end with. */
export const refused: Readonly<Record<string, RegExp>> = {
  "auth/scope-retry-limit": /requires permissions that this login does not have/,
  "auth/resource-mismatch": /is for https:\/\/evil\.example\.com\/mcp/,
  "auth/iss-supported-missing": /does not say who it is from \(iss\)/,
  "auth/iss-wrong-issuer": /is not from .* \(iss\)/,
  "auth/iss-unexpected": /is not from .* \(iss\)/,
  "auth/iss-normalized": /is not from .* \(iss\)/,
  "auth/metadata-issuer-mismatch": /names a different issuer/,
};

/** Scenarios with a stop-watch: where one fails among all the others, which start at once, it is tried again alone. */
export const timed = /^sse-retry$/;
