import { authenticateClient } from "./clients.ts";
import { type Answer, type AuthReceived, json } from "./listener.ts";
import { type Fields, GRANTS } from "./options.ts";
import { consentPage, deviceCodePage, messagePage } from "./pages.ts";
import { Refusal, required } from "./refusal.ts";
import { askedBy } from "./scopes.ts";
import { type AuthState, type DeviceRequest, secret } from "./state.ts";
import { issue, type TokenRequest } from "./tokens.ts";

/** RFC 8628: a device asks for a code that a person can type elsewhere. */
export async function authorizeDevice(state: AuthState, request: AuthReceived): Promise<Answer> {
  const client = await authenticateClient(state, request);
  if (!state.grantTypes.includes(GRANTS.device) || !client.grant_types.includes(GRANTS.device)) {
    throw new Refusal("unauthorized_client", "the client is not registered for devices");
  }
  const { deviceMs = 600_000, deviceIntervalMs: intervalMs = 5000 } = state.options;
  const userCode = newUserCode();
  const deviceCode = `device-${secret()}`;
  state.devices.set(deviceCode, {
    ...askedBy(state, client, request.params),
    userCode,
    intervalMs,
    expiresMs: state.now() + deviceMs,
    lastPollMs: -Infinity,
    decision: "pending",
  });
  const verification_uri = `${state.issuer}/device`;
  return json(200, {
    device_code: deviceCode,
    user_code: userCode,
    verification_uri,
    verification_uri_complete: `${verification_uri}?user_code=${userCode}`,
    expires_in: Math.floor(deviceMs / 1000),
    interval: Math.ceil(intervalMs / 1000),
  });
}

export function pollDevice({ state, client, params, thumbprint }: TokenRequest): Fields {
  const device = state.devices.get(required(params, "device_code"));
  if (device === undefined || device.client.client_id !== client.client_id || device.decision === "spent") {
    throw new Refusal("invalid_grant", "the device code is not known");
  }
  if (state.now() >= device.expiresMs) throw new Refusal("expired_token", "the device code has expired");
  const early = state.now() < device.lastPollMs + device.intervalMs;
  device.lastPollMs = state.now();
  if (early) {
    device.intervalMs += 5000;
    throw new Refusal("slow_down", "the device asks too often");
  }
  const { decision } = device;
  if (decision === "pending") throw new Refusal("authorization_pending", "nobody has agreed yet");
  if (decision === "denied") throw new Refusal("access_denied", "the user said no");
  device.decision = "spent";
  const grant = state.addGrant(GRANTS.device, device, decision.user);
  return issue(state, client, grant, { thumbprint, refresh: true });
}

/** The page for the person: the code, then the question. */
export function devicePage(state: AuthState, { method, params }: AuthReceived): Answer {
  const action = `${state.issuer}/device`;
  const code = params.get(method === "POST" ? "request" : "user_code");
  if (code === null) return deviceCodePage(action);
  const device = deviceWith(state, code);
  if (device === undefined) return messagePage(400, "Connect a device", "This code is not known.");
  const form = { action, key: device.userCode };
  if (method === "GET") return consentPage(state, device, form);
  const isAllowed = params.get("decision") === "allow";
  const user = params.get("user") ?? undefined;
  if (isAllowed && !state.admits(user)) return consentPage(state, device, { ...form, unknown: user ?? "" });
  decideDevice(state, code, isAllowed ? { user } : "denied");
  return messagePage(200, "Connect a device", "Done. Go back to the device.");
}

/** What a person decides about a device. */
export function decideDevice(
  state: AuthState,
  userCode: string,
  decision: "denied" | { user?: string | undefined },
): void {
  const device = deviceWith(state, userCode);
  if (device === undefined) throw new Error(`No device waits with the code ${userCode}`);
  const user = decision === "denied" ? undefined : (decision.user ?? state.users[0] ?? "nobody");
  device.decision = user === undefined ? "denied" : { user };
}

function deviceWith(state: AuthState, typed: string): DeviceRequest | undefined {
  const bare = (code: string): string => code.toUpperCase().replaceAll(/[^A-Z]/g, "");
  return [...state.devices.values()].find(
    ({ userCode, decision }) => decision === "pending" && bare(userCode) === bare(typed),
  );
}

function newUserCode(): string {
  const letters = "BCDFGHJKLMNPQRSTVWXZ";
  const drawn = crypto.getRandomValues(new Uint8Array(8));
  const code = Array.from(drawn, (byte) => letters[byte % letters.length] ?? "").join("");
  return `${code.slice(0, 4)}-${code.slice(4)}`;
}
