import type { Script } from "../fake/index.ts";
import { type AuthServer, startAuthServer } from "./auth-server.ts";
import { hostileAnswers } from "./hostile-answers.ts";
import { hostileMetadata } from "./hostile-metadata.ts";
import { type AuthReceived, json, listen } from "./listener.ts";
import type { AuthOptions } from "./options.ts";
import { type ProtectedMcp, type ProtectedOptions, startProtectedMcp } from "./protected-mcp.ts";

export interface Hostile {
  /** What is wrong. */
  what: string;
  /** The last step of a careful client: it goes no further, or `through` because it can do so safely. */
  stopsAt: "discovery" | "registration" | "callback" | "token" | "through";
  /** Words of a careful client's message: which field or step, and what is wrong with it. */
  says: readonly string[];
  /** `elsewhere` is the origin of a server that should hear nothing. */
  options: (elsewhere: string) => { auth?: AuthOptions; mcp?: ProtectedOptions };
}

/** Authorization servers and protected servers that mean harm, by name. */
export const hostile = { ...hostileMetadata, ...hostileAnswers } satisfies Record<string, Hostile>;

export type HostileName = keyof typeof hostile;

export interface HostileServers extends AsyncDisposable {
  auth: AuthServer;
  server: ProtectedMcp;
  /** What reached the place that should hear nothing. */
  elsewhere: { origin: string; received: AuthReceived[] };
  close(): Promise<void>;
}

/** The servers of one entry. Consent is given at once, unless `change` says otherwise. */
export async function startHostile(
  name: HostileName,
  { script = {}, change = {} }: { script?: Script; change?: AuthOptions } = {},
): Promise<HostileServers> {
  const elsewhere = await listen({
    endpointOf: () => "elsewhere",
    answer: async () => json(200, { access_token: "stolen", token_type: "Bearer", client_id: "stolen" }),
  });
  const entry: Hostile = hostile[name];
  const { auth: options, mcp } = entry.options(elsewhere.origin);
  const auth = await startAuthServer({ autoConsent: true, ...options, ...change });
  const server = await startProtectedMcp(auth, script, mcp);
  // It takes what it can get, so that a careless client goes all the way.
  auth.resources.clear();
  const close = async (): Promise<void> => {
    await server.close();
    await auth.close();
    await elsewhere.close();
  };
  return { auth, server, elsewhere, close, [Symbol.asyncDispose]: close };
}
