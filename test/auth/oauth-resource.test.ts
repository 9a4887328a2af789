import { describe, expect, it } from "vitest";
import { createSandbox } from "../sandbox.ts";
import { GRANTS } from "../fixtures/auth/index.ts";
import type { AuthOptions, AuthServer } from "../fixtures/auth/index.ts";
import { add, browser, openScene, redirectOf, refusal } from "./oauth-fixture.ts";

const another = "api://issues-of-mine";
const lenient: AuthOptions = { resourceIndicators: "ignored", grantTypes: [GRANTS.client, GRANTS.device] };
const forAnybody = { audience: false } as const;

/** The `resource` of every request to an endpoint that takes one; null where it was left out. */
function resources({ received }: AuthServer): Record<string, (string | null)[]> {
  const all: Record<string, (string | null)[]> = {};
  for (const { endpoint, params } of received)
    if (/^(authorize|token|device-authorization)$/.test(endpoint))
      (all[endpoint] ??= []).push(params.get("resource"));
  return all;
}

describe.each([
  ["another value", another, another],
  ["false", false, null],
] as const)("M72 oauth.resource: %s", (_name, resource, sent) => {
  it("is used for the authorization, the tokens and every renewal, also after a restart", async () => {
    const { auth, hub: open } = await openScene(lenient, forAnybody);
    const entry = { oauth: { resource } };
    const hub = await open(entry);
    await hub.login("issues", browser());
    expect(await add(hub)).toEqual({ sum: 3 });
    auth.expireAccessTokens();
    expect(await add(await open(entry))).toEqual({ sum: 3 });
    expect(auth.stats.refreshes).toBe(1);
    expect(resources(auth)).toEqual({ authorize: [sent], token: [sent, sent] });
  });

  it("applies to a login from before it was set", async () => {
    const { auth, server, hub: open } = await openScene(lenient, forAnybody);
    await (await open()).login("issues", browser());
    auth.expireAccessTokens();
    expect(await add(await open({ oauth: { resource } }))).toEqual({ sum: 3 });
    expect(resources(auth)["token"]).toEqual([server.url, sent]);
  });

  it("is used for codes on other devices and without a person", async () => {
    const device = await openScene({ ...lenient, deviceIntervalMs: 1 }, forAnybody);
    const hub = await device.hub({ oauth: { resource } });
    await hub.login("issues", { device: ({ code }) => device.auth.approveDevice(code) });
    const asked = resources(device.auth);
    expect(asked["device-authorization"]).toEqual([sent]);
    expect(new Set(asked["token"])).toEqual(new Set([sent]));

    const clients = [{ client_id: "robot", client_secret: "s3cret-of-robot" }];
    const machine = await openScene({ ...lenient, clients }, forAnybody);
    const oauth = {
      grant: "client-credentials",
      clientId: "robot",
      clientSecret: "s3cret-of-robot",
      resource,
    };
    expect(await add(await machine.hub({ oauth }))).toEqual({ sum: 3 });
    expect(resources(machine.auth)).toEqual({ token: [sent] });
  });
});

describe("M72 oauth.resource", () => {
  it("accepts metadata for exactly that resource, and for no other", async () => {
    const { hub: open } = await openScene(lenient, { ...forAnybody, resource: another });
    const error = await refusal((await open()).login("issues", browser()));
    expect(error).toMatchObject({ data: { reason: "resource" } });
    expect(error.hint).toContain("`oauth.resource`");
    for (const resource of [false, "api://something-else"] as const) {
      const other = await open({ oauth: { resource } });
      expect(await refusal(other.login("issues", browser()))).toMatchObject({ data: { reason: "resource" } });
    }
    const hub = await open({ oauth: { resource: another } });
    await hub.login("issues", browser());
    expect(await add(hub)).toEqual({ sum: 3 });
  });

  it.each([
    "AADSTS9010010: The resource parameter provided in the request doesn't match with the requested scopes.",
    "AADSTS901002: The 'resource' request parameter is not supported.",
  ])("is named where a login fails with %s", async (description) => {
    const { auth, hub: open } = await openScene({
      alter: {
        authorization: (response) => {
          const { state, iss } = Object.fromEntries(response);
          const refused = { error: "invalid_request", error_description: description };
          return new URLSearchParams({ ...refused, ...(state && { state }), ...(iss && { iss }) });
        },
      },
    });
    const error = await refusal((await open()).login("issues", { askRedirect: redirectOf }));
    expect(error).toMatchObject({ code: "auth-failed", data: { reason: "resource" } });
    expect(error.message).toMatch(/AADSTS\d+/);
    expect(error.hint).toContain("Set `oauth.resource` to `false`");
    expect(auth.received.filter(({ endpoint }) => endpoint === "token")).toEqual([]);
  });

  it("is named by doctor where an automatic login or a renewal fails because of it", async () => {
    const clients = [{ client_id: "robot", client_secret: "s3cret-of-robot" }];
    const { auth, server } = await openScene({ clients });
    const body = { error: "invalid_target", error_description: "AADSTS9010010: does not match" };
    auth.set({ faults: { token: { answer: { status: 400, body } } } });
    const oauth = {
      grant: "client-credentials",
      clientId: "robot",
      clientSecret: "s3cret-of-robot",
      issuer: auth.issuer,
    };
    const box = createSandbox({
      "home/.config/plugboard/config.json": { mcpServers: { issues: { url: server.url, oauth } } },
    });
    const { code, out } = await box.cli(["doctor", "--connect"]);
    expect(code).toBe(6);
    expect(out).toContain("AADSTS9010010");
    expect(out.replaceAll(/\s+/g, " ")).toContain("Set `oauth.resource` to `false` to leave it out");
  });

  it.each([0, true, null, ""])("is refused as %j", async (resource) => {
    const box = createSandbox({
      "home/.config/plugboard/config.json": {
        mcpServers: { issues: { url: "https://issues.example/mcp", oauth: { resource } } },
      },
    });
    const { code, out, err } = await box.cli(["config", "validate"]);
    expect(code).not.toBe(0);
    expect(out + err).toContain("oauth.resource");
  });
});
