import type { AuthServer } from "./auth-server.ts";
import { challenge, type ChallengeFields, type ChallengeStyle } from "./challenges.ts";
import { type DpopProofs, presentedToken } from "./dpop.ts";
import { ALGORITHMS } from "./jwt.ts";
import type { Answer, AuthReceived } from "./listener.ts";
import { Refusal } from "./refusal.ts";

/** Scopes that are needed: for everything, for a method, for a tool. */
export interface Requirements {
  all?: string[];
  methods?: Record<string, string[]>;
  tools?: Record<string, string[]>;
}

interface Settings {
  origin: string;
  audience: string | false;
  metadataUrl: string | false;
  requires?: Requirements;
  challengeScope?: boolean;
  challengeStyle?: ChallengeStyle;
  dpop?: "required" | "nonce";
}

/** Says why a request is turned away, or nothing. */
export function createBearerCheck(
  auth: Pick<AuthServer, "introspect">,
  proofs: DpopProofs,
  settings: () => Settings,
): (request: AuthReceived) => Answer | undefined {
  return (request) => {
    const now = settings();
    const presented = presentedToken(request);
    const isDpop = now.dpop !== undefined || presented?.scheme === "dpop";
    const all = now.requires?.all ?? [];
    const refuse = (status: number, fields: ChallengeFields): Answer => {
      const metadata = now.metadataUrl === false ? undefined : now.metadataUrl;
      const algs = isDpop ? ALGORITHMS.join(" ") : undefined;
      const all = { ...fields, algs, resource_metadata: metadata };
      const bearer = challenge(now.challengeStyle ?? "bearer", all);
      const lines = isDpop ? bearer.map((line) => line.replace(/\bBearer\b/, "DPoP")) : bearer;
      const headers = { ...(lines.length > 0 && { "www-authenticate": lines }) };
      const body = JSON.stringify({ error: fields["error"] ?? "unauthorized" });
      return { status, headers: { "content-type": "application/json", ...headers }, body };
    };
    const scope = now.challengeScope !== false && all.length > 0 ? all.join(" ") : undefined;
    if (presented === undefined) return refuse(401, { scope });
    const invalid = (why: string): Answer =>
      refuse(401, { error: "invalid_token", error_description: why, scope });

    const known = auth.introspect(presented.token);
    if (!known.active) return invalid("The access token is not known, has expired or was revoked");
    if (now.audience !== false && known.aud !== now.audience)
      return invalid("The access token is for another resource");
    if (now.dpop !== undefined && known.cnf === undefined) return invalid("The token is bound to no key");
    try {
      const url = `${now.origin}${request.path.split("?")[0]}`;
      proofs.checkBinding(request, { ...presented, known, url, nonce: now.dpop === "nonce" });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const answer = refuse(401, { error: error.error, error_description: error.message, scope });
      return { ...answer, headers: { ...answer.headers, ...error.headers } };
    }

    const needed = [...new Set([...all, ...neededBy(now.requires, request)])];
    const has = (known.scope ?? "").split(" ");
    if (needed.every((name) => has.includes(name))) return undefined;
    // Only what this request needs: what was granted before is for the client to remember.
    return refuse(403, {
      error: "insufficient_scope",
      scope: needed.join(" "),
      error_description: "More is needed",
    });
  };
}

function neededBy(requires: Requirements | undefined, { message }: AuthReceived): string[] {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: { name?: unknown } };
  const byTool = method === "tools/call" ? requires?.tools?.[String(params?.name)] : undefined;
  return [...(requires?.methods?.[String(method)] ?? []), ...(byTool ?? [])];
}
