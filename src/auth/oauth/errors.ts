import { PlugboardError, isPlugboardError } from "../../errors.ts";
import { printable } from "../../lib/printable.ts";
import { isRecord } from "../../lib/record.ts";
import { hidden } from "../../lib/secret-words.ts";
import { joinArgv } from "../../lib/argv.ts";

/** A login failed: we refused it, or the other side did. */
export function authFailed(server: string, message: string, details: FailureDetails = {}): PlugboardError {
  return new PlugboardError("auth-failed", message, { server, ...details });
}

interface FailureDetails {
  hint?: string;
  data?: Record<string, unknown>;
  cause?: unknown;
}

/** For problems that only the server's operator can fix. */
export const operatorHint =
  "The server's operator has to fix this. If the server accepts a token that you create yourself, set `headers`, `bearerTokenEnv` or `headersHelper` instead.";

/** The command that logs in with the configured account, or with `profile`. */
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

/** Text from an authorization server, made safe to show: short, printable, without secrets that we sent it. */
export function shown(text: string, secrets: readonly string[] = []): string {
  const line = printable(without(secrets, text), { oneLine: true });
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}

/** The same for an error description, which may repeat a code or a token: everything that looks like one is hidden. */
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

/** An OAuth error code, if it looks like one; anything else in its place is not shown. */
export function shownCode(code: string): string {
  return /^[a-z][a-z_]{0,59}$/.test(code) ? code : "not a valid OAuth error code";
}

/** The OAuth error code that an authorization server sent, if any. */
export function oauthCode(error: unknown): string | undefined {
  const named = error instanceof Error && error.name === "OAuthError";
  return named && isRecord(error) && typeof error["code"] === "string" ? error["code"] : undefined;
}

/** The first PlugboardError in the chain of causes. */
export function ourCause(error: unknown): PlugboardError | undefined {
  for (let current = error, depth = 0; depth < 8 && current instanceof Error; depth++) {
    if (isPlugboardError(current)) return current;
    current = current.cause;
  }
  return undefined;
}

/**
 * Explains why a request to an authorization server failed. The SDK's messages may quote whole responses, so only the
 * reason is passed on and the error itself is not kept as a cause.
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
  const subject = `The authorization server of "${server}"`;
  if (code === undefined || !(error instanceof Error)) {
    const hint = operatorHint;
    return authFailed(server, `${subject} sent a response to ${step} that ${formFault(error)}.`, { hint });
  }
  // The SDK reports a body that is not an OAuth error as one, with the whole body in its message.
  if (error.message.includes("Raw body:")) {
    const status = /HTTP (\d{3})/.exec(error.message)?.[1];
    const how = status === undefined ? "" : ` (HTTP ${status})`;
    const data = { ...(status !== undefined && { status: Number(status) }), step };
    if (status !== undefined && Number(status) >= 500)
      return new PlugboardError("not-responding", `${subject} is not available${how}.`, { server, data });
    const hint = operatorHint;
    return authFailed(server, `${subject} sent a response to ${step} that is not valid OAuth${how}.`, {
      data,
      hint,
    });
  }
  const why = error.message === code ? "" : `: ${explanation(error.message, secrets)}`;
  const aboutResource = resourceHint(code, error.message);
  return authFailed(server, `${subject} refused ${step} (${shownCode(code)})${why}.`, {
    data: { ...(aboutResource !== undefined && { reason: "resource" }), error: shownCode(code), step },
    hint:
      aboutResource ??
      hint ??
      (code === "invalid_client" ? clientHint : `Log in again: \`${loginCommand(server)}\`.`),
  });
}

/** The hint for a refusal of the `resource` parameter; undefined for any other refusal. */
export function resourceHint(code: string, description: string): string | undefined {
  // Microsoft Entra ID rejects the parameter with these numbers, and others forward its errors.
  const isRefused =
    code === "invalid_target" ||
    /AADSTS(9010010|901002)\b/.test(description) ||
    /\bresource\b.{0,40}\bparameter\b.{0,40}\bnot supported\b/i.test(description);
  if (!isRefused) return undefined;
  return "The authorization server does not accept the `resource` parameter. Set `oauth.resource` to `false` to leave it out, or to the value that it expects.";
}

/** Says what is wrong with a document, from the error that its parser threw; never shows the document's values. */
export function formFault(error: unknown): string {
  if (error instanceof SyntaxError) return "is not JSON";
  const issues = isRecord(error) && Array.isArray(error["issues"]) ? (error["issues"] as unknown[]) : [];
  const faults = issues.filter(isRecord).map(({ path, code }) => {
    const field = Array.isArray(path) && typeof path[0] === "string" ? shown(path[0]) : undefined;
    if (field === undefined) return "is not a JSON object";
    return code === "invalid_type" ? `has no valid ${field}` : `has a ${field} that is not an https URL`;
  });
  return faults.length > 0 ? [...new Set(faults)].slice(0, 3).join(" and ") : "is not valid";
}

/** For servers that need a token that a person creates by hand. */
export const ownTokenHint =
  "The server may need a token that you create yourself: set `headers`, `bearerTokenEnv` or `headersHelper`.";

const clientHint =
  "Check `oauth.clientId` and `oauth.clientSecret`. If they are not set, log in again: Plugboard then registers a new client.";
