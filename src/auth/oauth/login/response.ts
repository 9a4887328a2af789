import { timingSafeEqual } from "node:crypto";
import { authFailed, explanation, loginCommand, resourceHint, shown, shownCode } from "../errors.ts";

/** What the response must match; recorded before the browser was opened. */
export interface Expected {
  server: string;
  state: string;
  issuer: string;
  /** True if the authorization server announces that its response contains `iss` (RFC 9207). */
  namesItself: boolean;
}

/**
 * Returns the code from the browser's callback. The response is read only if its state and issuer match; otherwise
 * not even its error is shown.
 */
export function readAuthorizationResponse(params: URLSearchParams, expected: Expected): string {
  const { server, issuer } = expected;
  const refuse = (why: string, reason: string) =>
    authFailed(server, `The response to the login for "${server}" ${why}; it was not used.`, {
      data: { reason },
      hint: `Start again: \`${loginCommand(server)}\`.`,
    });
  for (const name of ["state", "iss", "code", "error"]) {
    if (params.getAll(name).length > 1) throw refuse(`contains ${name} more than once`, name);
  }
  if (!isEqual(params.get("state") ?? "", expected.state))
    throw refuse(params.has("state") ? "belongs to another login (state)" : "has no state", "state");
  const iss = params.get("iss");
  if (iss === null && expected.namesItself) throw refuse("does not say who it is from (iss)", "iss");
  if (iss !== null && iss !== issuer) throw refuse(`is not from ${shown(issuer)} (iss)`, "iss");
  const error = params.get("error");
  if (error !== null) {
    const why = params.get("error_description");
    const aboutResource = resourceHint(error, why ?? "");
    const what = error === "access_denied" ? "was denied" : `failed (${shownCode(error)})`;
    throw authFailed(
      server,
      `The login to "${server}" ${what}${why === null ? "" : `: ${explanation(why)}`}.`,
      {
        data: { reason: aboutResource === undefined ? "refused" : "resource", error: shownCode(error) },
        hint: aboutResource ?? `Start again: \`${loginCommand(server)}\`.`,
      },
    );
  }
  const code = params.get("code");
  if (code === null || code === "") throw refuse("has no code", "code");
  return code;
}

/** True if the state matches; the rest of the response is not checked here. */
export function isResponseTo(params: URLSearchParams, state: string): boolean {
  return params.getAll("state").some((one) => isEqual(one, state));
}

function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The parameters of a redirect that a person pasted, as a whole URL or only its query. */
export function pastedParams(text: string): URLSearchParams {
  const trimmed = text.trim();
  const url = URL.parse(trimmed);
  return url ? url.searchParams : new URLSearchParams(trimmed.replace(/^[^?]*\?/, ""));
}
