/**
 * A small but real authorization server, an MCP server behind it, and the ways in which both can be hostile.
 *
 *     const auth = await startAuthServer({ autoConsent: true });
 *     const server = await startProtectedMcp(auth, {}, { requires: { all: ["read"], tools: { add: ["write"] } } });
 *     auth.expireAccessTokens();
 *     expect(auth.stats).toMatchObject({ refreshes: 1, reuses: 0 });
 */
export { type AuthServer, startAuthServer } from "./auth-server.ts";
export type { Requirements } from "./bearer-check.ts";
export type { ChallengeStyle } from "./challenges.ts";
export type { Fault } from "./faults.ts";
export { hostile, type Hostile, type HostileName, type HostileServers, startHostile } from "./hostile.ts";
export { startIdentityProvider } from "./identity-provider.ts";
export type { Jwk } from "./jwt.ts";
export type { AuthReceived } from "./listener.ts";
export { type AuthOptions, type ClientSettings, type Endpoint, GRANTS, type GrantType } from "./options.ts";
export { type ProtectedMcp, type ProtectedOptions, startProtectedMcp } from "./protected-mcp.ts";
export { createKey, type SigningKey } from "./signing-key.ts";
export type { Client, Grant } from "./state.ts";
export type { Introspection } from "./tokens.ts";
