import { PlugboardError, isPlugboardError } from "../../errors.ts";
import { printable } from "../../lib/printable.ts";
import { isRecord } from "../../lib/record.ts";
import { hidden } from "../../lib/secret-words.ts";
import { joinArgv } from "../../lib/argv.ts";

/** The login, as far as it came, is refused: by us, or by the other side. */
export function authFailed(server: string, message: string, details: FailureDetails = {}): PlugboardError {
  return new PlugboardError("auth-failed", message, { server, ...details });
}

interface FailureDetails {
  hint?: string;
  data?: Record<string, unknown>;
  cause?: unknown;
}

/** For what only the other side can mend. */
export const operatorHint =
  "Its operator has to mend that; if the server takes a token of yours, set `headers`, `bearerTokenEnv` or `headersHelper` instead.";

/** What a person types to log in, as the configured account or as this one. */
export function loginCommand(server: string, profile?: string): string {
  return joinArgv(["plugboard", "login", server, ...(profile === undefined ? [] : ["--profile", profile])]);
}

export function loginRequired(server: string, why: string, profile: string | undefined): PlugboardError {
  const command = loginCommand(server, profile);
  return new PlugboardError("auth-required", why, {
    server,
    hint: `Run \`${command}\`.`,
    data: { command },
  });
}

/** What an authorization server wrote, made fit to be shown: short, printable, without what we sent it. */
export function shown(text: string, secrets: readonly string[] = []): string {
  const line = printable(without(secrets, text), { oneLine: true });
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}

/** The same for an explanation, which may repeat a code or a token: whatever looks like one is left out. */
export function explanation(text: string, secrets: readonly string[] = []): string {
  const isOpaque = (word: string) => /\d/.test(word) || word.length > 40;
  const hide = (word: string) => (isOpaque(word) ? hidden : word);
  return shown(without(secrets, text).replaceAll(/[\w.~+/=-]{16,}/g, hide));
}

function without(secrets: readonly string[], text: string): string {
  return secrets
    .filter((secret) => secret.length > 3)
    .reduce((rest, secret) => rest.replaceAll(secret, hidden), text);
}

/** The code of an OAuth error, where it is one and not whatever else somebody put there. */
export function shownCode(code: string): string {
  return /^[a-z][a-z_]{0,59}$/.test(code) ? code : "no code of OAuth";
}

/** The machine-readable reason that an authorization server gave, if it gave one. */
export function oauthCode(error: unknown): string | undefined {
  const named = error instanceof Error && error.name === "OAuthError";
  return named && isRecord(error) && typeof error["code"] === "string" ? error["code"] : undefined;
}

/** An error of ours somewhere among the causes. */
export function ourCause(error: unknown): PlugboardError | undefined {
  for (let current = error, depth = 0; depth < 8 && current instanceof Error; depth++) {
    if (isPlugboardError(current)) return current;
    current = current.cause;
  }
  return undefined;
}

/**
 * What went wrong in a request to an authorization server. The SDK's own words may quote whole answers, so only the
 * reason in them is passed on, and the error itself is not kept as a cause.
 */
export function requestFailed(
  error: unknown,
  {
    server,
    step,
    secrets = [],
    hint,
  }: { server: string; step: string; secrets?: readonly string[]; hint?: string },
): PlugboardError {
  const ours = ourCause(error);
  if (ours) return ours;
  const code = oauthCode(error);
  const said = `The authorization server of "${server}"`;
  if (code === undefined || !(error instanceof Error)) {
    const hint = operatorHint;
    return authFailed(server, `${said} gave an answer to ${step} that ${formFault(error)}.`, { hint });
  }
  // What cannot be read as an OAuth error arrives as one, with the whole body in its words.
  if (error.message.includes("Raw body:")) {
    const status = /HTTP (\d{3})/.exec(error.message)?.[1];
    const how = status === undefined ? "" : ` (HTTP ${status})`;
    const data = { ...(status !== undefined && { status: Number(status) }), step };
    if (status !== undefined && Number(status) >= 500)
      return new PlugboardError("not-responding", `${said} is not available${how}.`, { server, data });
    const hint = operatorHint;
    return authFailed(server, `${said} gave an answer to ${step} that is not OAuth${how}.`, { data, hint });
  }
  const why = error.message === code ? "" : `: ${explanation(error.message, secrets)}`;
  return authFailed(server, `${said} refused ${step} (${shownCode(code)})${why}.`, {
    data: { error: shownCode(code), step },
    hint: hint ?? (code === "invalid_client" ? clientHint : `Log in again: \`${loginCommand(server)}\`.`),
  });
}

/** What is wrong with the form of a document, by what its parser threw; its values stay where they are. */
export function formFault(error: unknown): string {
  if (error instanceof SyntaxError) return "is not JSON";
  const issues = isRecord(error) && Array.isArray(error["issues"]) ? (error["issues"] as unknown[]) : [];
  const faults = issues.filter(isRecord).map(({ path, code }) => {
    const field = Array.isArray(path) && typeof path[0] === "string" ? shown(path[0]) : undefined;
    if (field === undefined) return "is not a JSON object";
    return code === "invalid_type"
      ? `lacks ${field}, or has it in a wrong form`
      : `has no https address as ${field}`;
  });
  return faults.length > 0 ? [...new Set(faults)].slice(0, 3).join(" and ") : "is not valid";
}

/** For servers that want a token that a person made by hand. */
export const ownTokenHint =
  "It may want a token of yours instead: set `headers`, `bearerTokenEnv` or `headersHelper`.";

const clientHint =
  "Check `oauth.clientId` and `oauth.clientSecret`; without them, log in again: a new client is registered.";
