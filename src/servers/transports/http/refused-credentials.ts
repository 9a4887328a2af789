import { parseChallenge } from "../../../auth/challenge.ts";
import { PlugboardError } from "../../../errors.ts";
import { shellWord } from "../../../lib/argv.ts";
import type { Authorization } from "./authorization.ts";

/** The error for a 401 that remains after renewing the credentials. */
export function unauthorized(server: string, authorization: Authorization): PlugboardError {
  const data = { status: 401 };
  const { auth, hasShown } = authorization;
  // Only a login can be made later; other credentials have to be configured.
  if (auth?.isLogin && !hasShown)
    return new PlugboardError("auth-required", `"${server}" requires a login (HTTP 401).`, { server, data });
  const message = hasShown
    ? `"${server}" refused the credentials it was given (HTTP 401).`
    : `"${server}" requires credentials, and none are configured (HTTP 401).`;
  return new PlugboardError("auth-failed", message, {
    server,
    data,
    hint: refusalHint(server, authorization),
  });
}

/** What to do about refused credentials, depending on where they come from. */
export function refusalHint(server: string, authorization: Authorization): string {
  const { auth, configured } = authorization;
  const why = authorization.explain();
  if (auth?.isLogin) return why ?? `Log in again: \`plugboard login ${shellWord(server)}\`.`;
  const names = configured.map((name) => `\`${name}\``).join(", ");
  const where =
    auth?.source ??
    (names === ""
      ? "`auth` is `none`. Set `headers`, `bearerTokenEnv` or `headersHelper`, or remove `auth`."
      : `Check the configured value of the header ${names}.`);
  return why === undefined ? where : `${why} ${where}`;
}

/** The error for a 403 that names the missing scopes; undefined for any other. */
export function missingRights(
  server: string,
  challenge: string,
  authorization: Authorization,
): PlugboardError | undefined {
  const { error, scope = "" } = parseChallenge(challenge);
  if (error !== "insufficient_scope") return undefined;
  const isScope = (word: string) => /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/.test(word);
  const scopes = authorization.client.redact(scope).split(/\s+/).filter(isScope);
  const which = scopes.length > 0 ? `: ${scopes.join(" ")}` : "";
  const isLogin = authorization.auth?.isLogin === true;
  const more = scopes.map((one) => `+${one}`).join(" ");
  const login = `Run \`plugboard login ${shellWord(server)} --scopes '${more.replaceAll("'", "")}'\`.`;
  const who = isLogin ? "this login does" : "its credentials do";
  return new PlugboardError("auth-failed", `"${server}" requires permissions that ${who} not have${which}.`, {
    server,
    data: { reason: "insufficient-scope", scopes, status: 403 },
    missingScopes: scopes,
    hint: isLogin && scopes.length > 0 ? login : refusalHint(server, authorization),
  });
}
