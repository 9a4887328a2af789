import { describe, expect, it } from "vitest";
import type { DevicePrompt } from "../../src/host.ts";
import { waysToLogIn } from "../../src/cli/terminal/login-ways.ts";
import type { Terminal } from "../../src/cli/terminal/terminal.ts";
import type { Fault } from "../fixtures/auth/index.ts";
import { openScene, refusal, tokenRequests } from "./oauth-fixture.ts";
import type { Scene } from "./oauth-fixture.ts";

/** What somebody is shown, who then gives up. */
async function shown({ hub: open }: Scene): Promise<DevicePrompt | undefined> {
  const hub = await open();
  const stop = new AbortController();
  let shown: DevicePrompt | undefined;
  const device = (prompt: DevicePrompt) => {
    shown = prompt;
    stop.abort();
  };
  expect((await refusal(hub.login("issues", { device, signal: stop.signal }))).code).toBe("auth-required");
  return shown;
}

function codeAt(verification_uri: string) {
  const body = { device_code: "d", user_code: "ABCD-EFGH", verification_uri, expires_in: 600, interval: 1 };
  return { faults: { "device-authorization": { answer: { body } } } };
}

describe("a login by device code", () => {
  it("survives a lost request, and a response that is not about the code", async () => {
    const faults: Fault[] = [
      { drop: "before" },
      { answer: { status: 502, body: "<h1>Bad gateway</h1>" } },
      { answer: { status: 500, body: { error: "server_error" } } },
    ];
    // Side by side: between two questions lie whole seconds.
    const outcomes = faults.map(async (fault) => {
      const { auth, hub: open } = await openScene({ deviceIntervalMs: 1 });
      const hub = await open();
      auth.set({ faults: { token: { times: 1, ...fault } } });
      const { user } = await hub.login("issues", { device: ({ code }) => auth.approveDevice(code) });
      return [user, tokenRequests(auth).length];
    });
    expect(await Promise.all(outcomes)).toEqual(faults.map(() => ["ada", 2]));
  }, 60_000);

  it("reports the last failure if the code expires meanwhile", async () => {
    const { auth, hub: open } = await openScene({ deviceIntervalMs: 1, deviceMs: 1000 });
    const hub = await open();
    auth.set({ faults: { token: { answer: { status: 503, body: "away" } } } });
    const error = await refusal(hub.login("issues", { device: () => undefined }));
    expect(error).toMatchObject({ code: "not-responding", data: { status: 503 } });
  });

  it("ends with a response about the code", async () => {
    const { auth, hub: open } = await openScene({ deviceIntervalMs: 1 });
    const hub = await open();
    auth.set({ faults: { token: { answer: { status: 400, body: { error: "invalid_grant" } } } } });
    const error = await refusal(hub.login("issues", { device: () => undefined }));
    expect(error).toMatchObject({ code: "auth-failed", data: { error: "invalid_grant" } });
    expect(tokenRequests(auth)).toHaveLength(1);
  });

  it("ends when the person declines, with the authorization server's explanation", async () => {
    const { auth, hub: open } = await openScene({ deviceIntervalMs: 1 });
    const hub = await open();
    const body = { error: "access_denied", error_description: "the user said no" };
    auth.set({ faults: { token: { answer: { status: 400, body } } } });
    expect(await refusal(hub.login("issues", { device: () => undefined }))).toMatchObject({
      code: "auth-failed",
      message: 'The login to "issues" was denied: the user said no.',
      hint: "Start again: `plugboard login issues`.",
      data: { reason: "refused", error: "access_denied" },
    });
  });

  it("shows the authorization server, and warns if the page is on another host", async () => {
    const scene = await openScene();
    const { host } = new URL(scene.auth.issuer);
    const usual = await shown(scene);
    expect(usual).toMatchObject({ issuer: host });
    expect(usual?.warning).toBeUndefined();
    scene.auth.set(codeAt("https://other.example/device"));
    const odd = await shown(scene);
    expect(odd).toMatchObject({ issuer: host, url: "https://other.example/device", code: "ABCD-EFGH" });
    expect(odd?.warning).toContain(`at other.example, but the login is for ${host}`);
  });

  it("shows both at a terminal", async () => {
    let text = "";
    const terminal = { env: {}, err: (words: string) => void (text += words) } as unknown as Terminal;
    const { device } = waysToLogIn("issues", { device: true }, terminal);
    const prompt = { issuer: "login.example", url: "https://other.example/device", code: "ABCD-EFGH" };
    await device?.({ ...prompt, expiresInMs: 1, warning: "Look twice." });
    expect(text).toBe(
      "Open https://other.example/device on any device to log in at login.example, and enter the code ABCD-EFGH\nLook twice.\n",
    );
  });
});
