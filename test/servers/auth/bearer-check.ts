import type { AuthServer } from "./auth-server.ts";
import { challenge, type ChallengeFields, type ChallengeStyle } from "./challenges.ts";
import { DpopProofs } from "./dpop.ts";
import type { Answer, AuthReceived } from "./listener.ts";
import { Refusal } from "./refusal.ts";
import { secret } from "./state.ts";

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
  settings: () => Settings,
): (request: AuthReceived) => Answer | undefined {
  const proofs = new DpopProofs();
  const nonce = secret();

  return (request) => {
    const now = settings();
    const all = now.requires?.all ?? [];
    const refuse = (status: number, fields: ChallengeFields): Answer => {
      const metadata = now.metadataUrl === false ? undefined : now.metadataUrl;
      const bearer = challenge(now.challengeStyle ?? "bearer", { ...fields, resource_metadata: metadata });
      const lines = now.dpop ? bearer.map((line) => line.replace(/\bBearer\b/, "DPoP")) : bearer;
      const headers = { ...(lines.length > 0 && { "www-authenticate": lines }) };
      const body = JSON.stringify({ error: fields["error"] ?? "unauthorized" });
      return { status, headers: { "content-type": "application/json", ...headers }, body };
    };
    const scope = now.challengeScope !== false && all.length > 0 ? all.join(" ") : undefined;
    const [, scheme = "", token] =
      /^(Bearer|DPoP) (\S+)$/i.exec(request.headers["authorization"]?.toString() ?? "") ?? [];
    if (token === undefined) return refuse(401, { scope });
    const invalid = (why: string): Answer =>
      refuse(401, { error: "invalid_token", error_description: why, scope });

    const known = auth.introspect(token);
    if (!known.active) return invalid("The access token is not known, has expired or was revoked");
    if (now.audience !== false && known.aud !== now.audience)
      return invalid("The access token is for another resource");
    if (known.cnf !== undefined || now.dpop !== undefined) {
      try {
        const url = `${now.origin}${request.path.split("?")[0]}`;
        const wanted = now.dpop === "nonce" && { nonce };
        const shown = proofs.check({ ...request, url, accessToken: token, ...wanted });
        const bound = known.cnf?.jkt !== undefined && known.cnf.jkt === shown;
        if (!bound || scheme.toLowerCase() !== "dpop")
          return invalid("The access token is bound to another key");
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const answer = refuse(401, { error: error.error, error_description: error.message });
        return { ...answer, headers: { ...answer.headers, ...error.headers } };
      }
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
