import { describe, expect, it } from "vitest";
import type { Interact } from "../../src/index.ts";
import { createSandbox } from "../sandbox.ts";
import { add, hubAt, openScene, refusal } from "./oauth-fixture.ts";

const helper = [process.execPath, "-e", "console.log(JSON.stringify({ Authorization: 'Bearer outdated' }))"];

/** Credentials that no login can replace, and the setting that a refusal has to name. */
const entries: Record<string, [entry: object, setting: RegExp]> = {
  "no credentials (auth: none)": [{ auth: "none" }, /`auth`/],
  "a fixed header": [{ headers: { Authorization: "Bearer outdated" } }, /`authorization`/],
  "a fixed header and auth: none": [{ auth: "none", headers: { "X-Api-Key": "outdated" } }, /`x-api-key`/],
  "a header from the environment": [{ headersFromEnv: { "X-Token": "MY_TOKEN" } }, /`x-token`/],
  "a token from the environment": [{ bearerTokenEnv: "MY_TOKEN" }, /`authorization`/],
  "a helper": [{ headersHelper: helper }, /`headersHelper`/],
  "a provider of the program": [{ auth: "mine" }, /"mine"/],
};

const env = { MY_TOKEN: "outdated", PATH: process.env["PATH"] ?? "" };
const authProviders = { mine: { token: async () => "outdated" } };

describe.each(Object.entries(entries))("M72 a server with %s", (_name, [entry, setting]) => {
  it("that refuses them is never a reason to log in", async () => {
    const { server } = await openScene();
    const asked: unknown[] = [];
    const interact: Interact = { logIn: async (question) => void asked.push(question) };
    const hub = await hubAt(server.url, entry, { env, authProviders, interact });
    for (const error of [await refusal(add(hub)), await refusal(hub.connect("issues"))]) {
      expect(error).toMatchObject({ code: "auth-failed", data: { status: 401 } });
      expect(error.hint).toMatch(setting);
      expect(error.message + error.hint).not.toMatch(/log ?in/i);
    }
    expect(hub.status()).not.toMatchObject([{ state: "needs-auth" }]);
    expect(asked).toEqual([]);
  });

  it("that wants more scopes is never a reason to log in", async () => {
    const { server } = await openScene();
    const challenge = 'Bearer error="insufficient_scope", scope="issues:write"';
    server.set({ faults: { mcp: { answer: { status: 403, headers: { "www-authenticate": challenge } } } } });
    const asked: unknown[] = [];
    const interact: Interact = { logIn: async (question) => void asked.push(question) };
    const hub = await hubAt(server.url, entry, { env, authProviders, interact });
    const error = await refusal(add(hub));
    expect(error).toMatchObject({ code: "auth-failed", data: { scopes: ["issues:write"] } });
    expect(error.message + error.hint).not.toMatch(/log ?in/i);
    expect(asked).toEqual([]);
  });
});

it("M72 the command line does not offer a login for credentials of your own", async () => {
  const { server } = await openScene();
  for (const [entry, setting] of Object.values(entries).slice(0, 6)) {
    const box = createSandbox({
      "home/.config/plugboard/config.json": { mcpServers: { issues: { url: server.url, ...entry } } },
    });
    Object.assign(box.env, env);
    for (const args of [["call", "issues.add"], ["status"], ["doctor", "--connect"], ["tools", "issues"]]) {
      const { code, out, err, asked } = await box.cli(args, { forms: [] });
      expect([code === 0, asked]).toEqual([false, []]);
      expect(out + err).not.toContain("plugboard login");
      expect(out + err).toMatch(setting);
    }
  }
});
