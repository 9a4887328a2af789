import type { JsonWebKey } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { GRANTS } from "../index.ts";
import {
  closing,
  closeAll,
  CALLBACK,
  start,
  browse,
  post,
  at,
  publicClient,
  verifier,
  ask,
  tokensByHand,
} from "./fixture.ts";

afterEach(closeAll);

describe("the authorization endpoint", () => {
  test("asks on a page that escapes what it shows, and takes one answer", async () => {
    const client_name = `<script>alert("x")</script>'&`;
    const users = ["ada", "<b>bob</b>"];
    const { auth, server } = await start({
      clients: [{ ...publicClient, client_name }],
      autoConsent: false,
      users,
    });
    const page = await fetch(ask(auth, { scope: "read", resource: server.url, state: "s" }));
    const text = await page.text();
    expect(page.headers.get("content-type")).toMatch("text/html");
    expect(text).toContain("&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&#39;&amp;");
    expect(text).not.toMatch(/<script|<b>bob/);
    expect(text).toMatch(/id="allow"[^]*id="deny"/);

    const action = /action="([^"]+)"/.exec(text)?.[1] ?? "";
    const request = /name="request" value="([^"]+)"/.exec(text)?.[1] ?? "";
    const body = new URLSearchParams({ request, decision: "allow", user: "<b>bob</b>" });
    const answer = await fetch(action, { method: "POST", body, redirect: "manual" });
    const back = new URL(answer.headers.get("location") ?? "");
    expect(Object.fromEntries(back.searchParams)).toMatchObject({ state: "s", iss: auth.issuer });
    expect(auth.grants).toMatchObject([{ user: "<b>bob</b>", scopes: ["read"], audience: server.url }]);
    expect((await fetch(action, { method: "POST", body, redirect: "manual" })).status).toBe(400);
  });

  test("tells the client when the person says no", async () => {
    const { auth } = await start({ clients: [publicClient], autoConsent: "deny" });
    const back = await browse(ask(auth, { state: "s" }));
    expect(Object.fromEntries(back)).toMatchObject({ error: "access_denied", state: "s", iss: auth.issuer });
  });

  test.each([
    ["http://127.0.0.1:1/callback", true],
    ["http://127.0.0.1/callback", true],
    ["http://localhost:4711/callback", false],
    ["http://127.0.0.1:4711/callback/", false],
    ["http://127.0.0.1:4711/callback?x=1", false],
    ["http://127.0.0.1:4711/CALLBACK", false],
    ["http://127.0.0.1:4711@attacker.example/callback", false],
    ["https://127.0.0.1:4711/callback", false],
    ["https://app.example:8443/callback", false],
    ["https://app.example/callback", true],
  ])("sends people to %s: %s", async (redirect_uri, allowed) => {
    const redirect_uris = [CALLBACK, "https://app.example/callback"];
    const { auth } = await start({ clients: [{ ...publicClient, redirect_uris }] });
    const response = await fetch(ask(auth, { redirect_uri }), { redirect: "manual" });
    expect(response.status).toBe(allowed ? 302 : 400);
    expect(response.headers.has("location")).toBe(allowed);
  });

  test.each([
    [{ code_challenge: undefined }, "invalid_request"],
    [{ code_challenge_method: undefined }, "invalid_request"],
    [{ code_challenge_method: "plain" }, "invalid_request"],
    [{ response_type: "token" }, "unsupported_response_type"],
    [{ scope: "read everything" }, "invalid_scope"],
    [{ resource: "https://other.example/mcp" }, "invalid_target"],
  ])("refuses %j with %s", async (change, error) => {
    const { auth } = await start({ clients: [publicClient] });
    expect((await browse(ask(auth, change))).get("error")).toBe(error);
  });

  test("takes a plain challenge only where that is switched on", async () => {
    const { auth } = await start({ clients: [publicClient], pkce: ["S256", "plain"] });
    const tokens = await tokensByHand(auth, { code_challenge: verifier, code_challenge_method: "plain" });
    expect(tokens).toHaveProperty("access_token");
  });

  test("reads a client's document from loopback, and believes only one that names itself", async () => {
    const documents = createServer((request, response) => {
      const client_id = request.url === "/good" ? `${origin}/good` : "https://honest.example/client";
      response.end(JSON.stringify({ client_id, client_name: "Doc", redirect_uris: [CALLBACK] }));
    });
    await new Promise<void>((resolve) => documents.listen(0, "127.0.0.1", resolve));
    const origin = `http://127.0.0.1:${(documents.address() as AddressInfo).port}`;
    closing.push(async () => documents.close());
    const { auth } = await start();
    expect((await browse(ask(auth, { client_id: `${origin}/good` }))).has("code")).toBe(true);
    const bad = await fetch(ask(auth, { client_id: `${origin}/bad` }), { redirect: "manual" });
    expect(bad.status).toBe(400);
  });
});

describe("the token endpoint", () => {
  test("redeems a code once, for its client, verifier and redirect", async () => {
    const { auth } = await start({ clients: [publicClient, { client_id: "other" }] });
    const good = {
      grant_type: GRANTS.code,
      client_id: "cli",
      code_verifier: verifier,
      redirect_uri: CALLBACK,
    };
    const newCode = async (): Promise<string> => (await browse(ask(auth))).get("code") ?? "";
    for (const change of [
      { client_id: "other" },
      { code_verifier: "x".repeat(43) },
      { redirect_uri: "http://127.0.0.1:1/callback" },
    ]) {
      const { body } = await post(auth, "token", { ...good, code: await newCode(), ...change });
      expect(body).toMatchObject({ error: "invalid_grant" });
    }
    const code = await newCode();
    const { body } = await post(auth, "token", { ...good, code });
    expect(auth.introspect(String(body["access_token"])).active).toBe(true);
    expect((await post(auth, "token", { ...good, code })).body).toMatchObject({ error: "invalid_grant" });
    expect(auth.introspect(String(body["access_token"])).active).toBe(false);
    expect(auth.stats.codeReplays).toBe(1);
    const late = await newCode();
    auth.advance(60_000);
    expect((await post(auth, "token", { ...good, code: late })).body).toMatchObject({
      error: "invalid_grant",
    });
  });

  test("knows a client only in the way that it is registered for", async () => {
    const { auth } = await start({ clients: [{ client_id: "robot", client_secret: "s3cret" }] });
    const form = { grant_type: GRANTS.client };
    const basic = (text: string): RequestInit => ({ headers: { authorization: `Basic ${btoa(text)}` } });
    expect((await post(auth, "token", form, basic("robot:s3cret"))).status).toBe(200);
    expect(await post(auth, "token", form, basic("robot:wrong"))).toMatchObject({
      status: 401,
      body: { error: "invalid_client" },
    });
    const inBody = { ...form, client_id: "robot", client_secret: "s3cret" };
    expect((await post(auth, "token", inBody)).body).toMatchObject({ error: "invalid_client" });
    auth.clients.delete("robot");
    expect((await post(auth, "token", form, basic("robot:s3cret"))).body).toMatchObject({
      error: "invalid_client",
    });
  });

  test("gives tokens to a device once a person has agreed", async () => {
    const { auth, server } = await start({ clients: [publicClient] });
    const begin = async (): Promise<{ code: string; form: Record<string, string>; page: string }> => {
      const { body } = await post(auth, "device_authorization", {
        client_id: "cli",
        scope: "read",
        resource: server.url,
      });
      const form = { grant_type: GRANTS.device, client_id: "cli", device_code: String(body["device_code"]) };
      return { code: String(body["user_code"]), form, page: String(body["verification_uri_complete"]) };
    };
    const poll = async (form: Record<string, string>): Promise<unknown> =>
      (await post(auth, "token", form)).body["error"];
    const first = await begin();
    expect(await poll(first.form)).toBe("authorization_pending");
    expect(await poll(first.form)).toBe("slow_down");
    auth.approveDevice(first.code.toLowerCase().replace("-", ""));
    auth.advance(10_000);
    const { body } = await post(auth, "token", first.form);
    expect(auth.introspect(String(body["access_token"]))).toMatchObject({
      sub: "ada",
      aud: server.url,
      scope: "read",
    });
    expect(body).toHaveProperty("refresh_token");
    auth.advance(10_000);
    expect(await poll(first.form)).toBe("invalid_grant");

    const second = await begin();
    auth.denyDevice(second.code);
    expect(await poll(second.form)).toBe("access_denied");
    const third = await begin();
    auth.advance(600_000);
    expect(await poll(third.form)).toBe("expired_token");

    const fourth = await begin();
    expect(await (await fetch(fourth.page)).text()).toContain('id="allow"');
    await fetch(`${auth.issuer}/device`, {
      method: "POST",
      body: new URLSearchParams({ request: fourth.code, decision: "allow" }),
    });
    expect(await poll(fourth.form)).toBeUndefined();
  });

  test("takes a user's identity from one server to another, when both grants are switched on", async () => {
    const { auth: idp } = await start({ grantTypes: [GRANTS.exchange], clients: [publicClient], scopes: [] });
    const idToken = String((await tokensByHand(idp, { scope: "openid" }))["id_token"]);
    const keys = (await (await fetch(`${idp.issuer}/jwks`)).json()) as { keys: JsonWebKey[] };
    const client = {
      client_id: "cli",
      client_secret: "s3cret",
      token_endpoint_auth_method: "client_secret_post" as const,
    };
    const { auth, server } = await start({
      grantTypes: [GRANTS.jwt],
      trusted: { [idp.issuer]: keys.keys },
      clients: [client],
    });
    const exchange = {
      grant_type: GRANTS.exchange,
      client_id: "cli",
      requested_token_type: "urn:ietf:params:oauth:token-type:id-jag",
      audience: auth.issuer,
      subject_token: idToken,
      subject_token_type: "urn:ietf:params:oauth:token-type:id_token",
    };
    idp.resources.clear();
    const { body } = await post(idp, "token", { ...exchange, resource: server.url });
    const form = {
      grant_type: GRANTS.jwt,
      client_id: "cli",
      client_secret: "s3cret",
      assertion: String(body["access_token"]),
    };
    const tokens = (await post(auth, "token", form)).body;
    expect(auth.introspect(String(tokens["access_token"]))).toMatchObject({ sub: "ada", aud: server.url });
    auth.set({ trusted: {} });
    expect((await post(auth, "token", form)).body).toMatchObject({ error: "invalid_grant" });
  });

  test("says who is logged in", async () => {
    const { auth } = await start({ clients: [publicClient], users: ["ada", "bob"] });
    const { access_token, id_token } = await tokensByHand(auth, { scope: "openid read", login_hint: "bob" });
    const claims = Buffer.from(String(id_token).split(".")[1] ?? "", "base64url").toString();
    expect(JSON.parse(claims)).toMatchObject({ sub: "bob", aud: "cli", iss: auth.issuer });
    const headers = { authorization: `Bearer ${String(access_token)}` };
    const info: unknown = await (await fetch(`${auth.issuer}/userinfo`, { headers })).json();
    expect(info).toEqual({ sub: "bob", name: "bob" });
  });

  test("revokes: an access token alone, a refresh token with all that it led to", async () => {
    const { auth } = await start({ clients: [publicClient] });
    const { access_token, refresh_token } = (await tokensByHand(auth)) as Record<string, string>;
    const active = async (): Promise<unknown> =>
      (await post(auth, "introspect", { token: access_token ?? "" })).body["active"];
    expect(await active()).toBe(true);
    expect((await post(auth, "revoke", { client_id: "cli", token: access_token ?? "" })).status).toBe(200);
    expect(await active()).toBe(false);
    const form = { grant_type: GRANTS.refresh, client_id: "cli", refresh_token: refresh_token ?? "" };
    const next = (await post(auth, "token", form)).body;
    await post(auth, "revoke", { client_id: "cli", token: String(next["refresh_token"]) });
    expect(auth.introspect(String(next["access_token"])).active).toBe(false);
    expect((await post(auth, "revoke", { client_id: "cli", token: "unknown" })).status).toBe(200);
    expect(auth.stats).toMatchObject({ revocations: 2, reuses: 0 });
  });

  test("fails as it is told to, and then no more", async () => {
    const { auth } = await start({ clients: [publicClient] });
    const { refresh_token } = await tokensByHand(auth);
    const form = { grant_type: GRANTS.refresh, client_id: "cli", refresh_token: String(refresh_token) };
    auth.set({
      faults: {
        token: { after: 1, times: 1, answer: { status: 503, body: { error: "temporarily_unavailable" } } },
      },
    });
    const { body } = await post(auth, "token", form);
    const next = { ...form, refresh_token: String(body["refresh_token"]) };
    expect((await post(auth, "token", next)).status).toBe(503);
    expect((await post(auth, "token", next)).status).toBe(200);
    const gate = Promise.withResolvers<void>();
    auth.set({ faults: { metadata: { until: gate.promise } } });
    const late = fetch(`${auth.url}/.well-known/oauth-authorization-server`);
    await expect.poll(() => at(auth, "metadata")).toHaveLength(1);
    gate.resolve();
    expect((await late).status).toBe(200);
  });
});
