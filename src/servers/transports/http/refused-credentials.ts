import { parseChallenge } from "../../../auth/challenge.ts";
import { PlugboardError } from "../../../errors.ts";
import { shellWord } from "../../../lib/argv.ts";
import type { Authorization } from "./authorization.ts";

/** The error for a 401 that remains after renewing the credentials. */
export function unauthorized(server: string, authorization: Authorization): PlugboardError {
  const data = { status: 401 };
  const canTellMore = authorization.auth === undefined || authorization.auth.renew !== undefined;
  if (!authorization.hasShown || !canTellMore)
    return new PlugboardError("auth-required", `"${server}" requires a login (HTTP 401).`, { server, data });
  const message = `"${server}" refused the credentials it was given (HTTP 401).`;
  return new PlugboardError("auth-failed", message, { server, data, hint: authorization.explain() });
}

/** The error for a 403 that names the missing scopes; undefined for any other. */
export function missingRights(
  server: string,
  challenge: string,
  redact: (text: string) => string,
): PlugboardError | undefined {
  const { error, scope = "" } = parseChallenge(challenge);
  if (error !== "insufficient_scope") return undefined;
  const isScope = (word: string) => /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/.test(word);
  const scopes = redact(scope).split(/\s+/).filter(isScope);
  const more = scopes.map((one) => `+${one}`).join(" ");
  const which = scopes.length > 0 ? `: ${scopes.join(" ")}` : "";
  return new PlugboardError(
    "auth-failed",
    `"${server}" requires permissions that this login does not have${which}.`,
    {
      server,
      data: { reason: "insufficient-scope", scopes, status: 403 },
      missingScopes: scopes,
      ...(scopes.length > 0 && {
        hint: `Run \`plugboard login ${shellWord(server)} --scopes '${more.replaceAll("'", "")}'\`.`,
      }),
    },
  );
}
