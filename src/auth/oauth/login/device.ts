import { setTimeout as sleep } from "node:timers/promises";
import type { OAuthTokens } from "@modelcontextprotocol/client";
import { PlugboardError } from "../../../errors.ts";
import { isRecord } from "../../../lib/record.ts";
import type { LoginAttempt } from "./login.ts";
import { clientSignature } from "../client-assertion.ts";
import { chooseClient, deviceGrant } from "../client.ts";
import {
  authFailed,
  explanation,
  loginCommand,
  oauthCode,
  requestFailed,
  resourceHint,
  shown,
  shownCode,
} from "../errors.ts";
import { postForm } from "../post.ts";
import type { Login, OAuthClient } from "../record.ts";
import { allowsLocal, isSafeUrl } from "../../../lib/safe-url.ts";
import { requestTokens, resourceField } from "../token-request.ts";

type Fields = Record<string, unknown>;

/** A `DevicePrompt` of `Interact.logIn`. */
export interface DeviceCode {
  issuer: string;
  url: string;
  code: string;
  expiresInMs: number;
  warning?: string | undefined;
}

/** RFC 8628: a person enters the code on another device, and we poll until they have. */
export async function logInByDevice(
  attempt: LoginAttempt,
  show: (prompt: DeviceCode) => void | Promise<void>,
): Promise<Login> {
  const { server, found, scopes, signal } = attempt;
  const endpoint = (found.metadata as Fields)["device_authorization_endpoint"];
  if (typeof endpoint !== "string") {
    const hint = "Log in with a browser, or use --no-browser and paste the final URL.";
    throw authFailed(server, `"${server}" does not offer a login with a device code.`, { hint });
  }
  const client = await chooseClient(attempt, found, "http://127.0.0.1/callback");
  const asked = { ...resourceField(found), ...(scopes.length > 0 && { scope: scopes.join(" ") }) };
  const { body: given, ok } = await post(attempt, client, endpoint, asked);
  const { device_code: deviceCode, user_code: code, verification_uri: url } = given;
  if (!ok || typeof deviceCode !== "string" || typeof code !== "string" || typeof url !== "string")
    throw refused(server, given);
  if (!isSafeUrl(url, allowsLocal(attempt.url, attempt.oauth.issuer)))
    throw authFailed(
      server,
      `"${server}" asks you to enter its code at ${shown(url)}, which is not a safe address and is not opened.`,
    );
  const expiresInMs = Math.min(Number(given["expires_in"]) * 1000 || 600_000, 1_800_000);
  await show({ ...whoAsks(found.issuer, url), url, code: shown(code), expiresInMs });
  let pauseMs = Math.min(Math.max(Number(given["interval"]) || 5, 1), 60) * 1000;
  let lost: PlugboardError | undefined;
  for (const until = performance.now() + expiresInMs; performance.now() < until;) {
    await sleep(pauseMs, undefined, { signal }).catch(() => {
      throw new PlugboardError("auth-required", `The login to "${server}" was not finished.`, { server });
    });
    let tokens: OAuthTokens | undefined;
    lost = undefined;
    try {
      const grant = { grant_type: deviceGrant, device_code: deviceCode };
      tokens = await requestTokens({ ...attempt, client }, grant);
    } catch (error) {
      const reason = oauthCode(error);
      if (reason === "slow_down") pauseMs += 5_000;
      else if (reason !== "authorization_pending") {
        const step = "the device code";
        lost = denied(server, error) ?? requestFailed(error, { server, step, secrets: [deviceCode] });
        if (!isTemporary(lost)) throw lost;
        // Section 3.5 requires longer pauses from then on.
        pauseMs = Math.max(pauseMs, Math.min(pauseMs * 2, 60_000));
      }
    }
    if (tokens) return attempt.keep(client, tokens);
  }
  throw lost ?? authFailed(server, `The code for the login to "${server}" has expired.`);
}

/** True if the failure says nothing about the code: the person may still be entering it, and the next poll may succeed. */
function isTemporary({ code, data }: PlugboardError): boolean {
  if (code === "not-responding" || code === "connection-lost") return true;
  return data?.error === "server_error" || data?.error === "temporarily_unavailable";
}

function whoAsks(issuer: string, url: string): Pick<DeviceCode, "issuer" | "warning"> {
  const [own, there] = [new URL(issuer).host, new URL(url).host];
  if (own === there) return { issuer: own };
  const warning = `The page is at ${there}, but the login is for ${own}: continue only if you know that they belong together.`;
  return { issuer: own, warning };
}

function denied(server: string, error: unknown): PlugboardError | undefined {
  const reason = oauthCode(error);
  if (reason !== "access_denied" || !(error instanceof Error)) return undefined;
  const why = error.message === reason ? "" : `: ${explanation(error.message)}`;
  return authFailed(server, `The login to "${server}" was denied${why}.`, {
    data: { reason: "refused", error: reason },
    hint: `Start again: \`${loginCommand(server)}\`.`,
  });
}

async function post(
  attempt: LoginAttempt,
  client: OAuthClient,
  address: string,
  form: Record<string, string>,
): Promise<{ ok: boolean; body: Fields }> {
  const { fetch, found, server } = attempt;
  const { issuer, token_endpoint_auth_methods_supported: methods } = found.metadata;
  const sign = clientSignature({ ...attempt, client, issuer });
  const { ok, text } = await postForm(fetch, address, form, { client, methods, sign });
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return { ok, body: value };
  } catch {
    // Reported below.
  }
  throw authFailed(
    server,
    `The authorization server of "${server}" sent a response that is not valid OAuth.`,
  );
}

function refused(server: string, { error, error_description: why }: Fields): PlugboardError {
  const words = typeof why === "string" ? `: ${explanation(why)}` : "";
  const reason = typeof error === "string" ? shownCode(error) : "no reason given";
  const hint = resourceHint(reason, typeof why === "string" ? why : "");
  return authFailed(server, `The login to "${server}" was refused (${reason})${words}.`, {
    data: { ...(hint !== undefined && { reason: "resource" }), error: reason },
    ...(hint !== undefined && { hint }),
  });
}
