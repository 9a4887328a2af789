import { describe, expect, it, onTestFinished } from "vitest";
import { Interrupted } from "../../src/cli/terminal/signals.ts";
import { redirectOf } from "../auth/oauth-fixture.ts";
import { createSandbox } from "../sandbox.ts";
import { installBrowser } from "./fake-browser.ts";
import { startAuthServer, startProtectedMcp } from "../fixtures/auth/index.ts";
import type { AuthOptions, ProtectedOptions } from "../fixtures/auth/index.ts";

const call = ["call", "issues.add", "a=1", "b=2"];

async function open(options: AuthOptions = {}, protect: ProtectedOptions = {}) {
  const auth = await startAuthServer({ autoConsent: true, ...options });
  const server = await startProtectedMcp(auth, {}, protect);
  onTestFinished(async () => {
    await server.close();
    await auth.close();
  });
  const config = { mcpServers: { issues: { url: server.url } } };
  const box = createSandbox({ "home/.config/plugboard/config.json": config });
  const opened = installBrowser(box);
  box.env["PATH"] = box.path("home/bin");
  return { auth, server, box, opened };
}

describe.runIf(process.platform === "linux")("a missing login in a terminal", () => {
  it("is offered by call, which then continues", async () => {
    const { box, auth, opened } = await open();
    const { code, out, err, asked } = await box.cli(call, { forms: [true] });
    expect(asked).toEqual(['"issues" requires a login (HTTP 401).', "Log in to issues now?"]);
    expect(err).toContain("Opening the login page for issues in your browser.");
    expect([code, out]).toEqual([0, expect.stringContaining("3")]);
    expect(out).not.toContain("login");
    expect(opened()).toHaveLength(1);
    expect(auth.stats).toMatchObject({ authorizations: 1 });
    expect(await box.cli(call, { forms: [] })).toMatchObject({ code: 0, asked: [] });
  });

  it("is offered if it expired after the tools were listed", async () => {
    const { box, auth } = await open();
    await box.cli(call, { forms: [true] });
    auth.advance(10 * 365 * 86_400_000);
    const { code, asked, out } = await box.cli(call, { forms: [true] });
    expect(asked).toEqual([expect.stringContaining("has ended"), "Log in to issues now?"]);
    expect([code, out]).toEqual([0, expect.stringContaining("3")]);
  });

  it.each([
    ["read", ["read", "issues", "fake://readme"], "text of fake://readme"],
    ["prompt", ["prompt", "issues.greet"], "greet"],
    ["tools of a server", ["tools", "issues"], "mcp__issues__add"],
    ["one tool", ["tools", "issues.add"], "issues.add"],
    ["tools --refresh", ["tools", "issues", "--refresh"], "mcp__issues__add"],
    ["resources", ["resources", "issues"], "fake://readme"],
    ["prompts", ["prompts", "issues"], "greet"],
  ])("is offered by %s", async (_name, words, expected) => {
    const { box } = await open();
    const { code, out, err, asked } = await box.cli(words, { forms: [true] });
    expect(asked.at(-1)).toBe("Log in to issues now?");
    expect([code, out]).toEqual([0, expect.stringContaining(expected)]);
    expect(err).not.toContain("plugboard login");
  });

  it.each([
    ["no", [false]],
    ["Esc", [undefined]],
  ])("is left with %s, and the error names the command", async (_name, forms) => {
    const { box, opened } = await open();
    const { code, out, err, asked } = await box.cli(call, { forms: [...forms] });
    expect([code, out, asked.length]).toEqual([6, "", 2]);
    expect(err).toContain('"issues" requires a login');
    expect(err).toContain("Run `plugboard login issues`.");
    expect(opened()).toEqual([]);
    const listed = await box.cli(["tools", "issues"], { forms: [...forms] });
    expect([listed.code, listed.asked.length]).toEqual([6, 2]);
    expect(listed.err).toContain("plugboard login issues");
  });

  it("is not offered without a terminal, with --json, with arguments from standard input, or when listing all servers", async () => {
    const { box, opened } = await open();
    for (const words of [call, [...call, "--json"]])
      expect(await box.cli(words)).toMatchObject({ code: 6, asked: [] });
    expect(await box.cli([...call, "--json"], { forms: [] })).toMatchObject({
      code: 6,
      asked: [],
      json: { error: { code: "auth-required", hint: "Run `plugboard login issues`." } },
    });
    const piped = await box.cli(["call", "issues.add", "-"], { forms: [], input: '{"a":1,"b":2}' });
    expect(piped).toMatchObject({ code: 6, asked: [] });
    const all = await box.cli(["tools"], { forms: [] });
    expect(all).toMatchObject({ code: 6, asked: [] });
    expect(all.err).toContain("plugboard login issues");
    expect(opened()).toEqual([]);
  });

  it("is not offered if other credentials are configured", async () => {
    const { box, server } = await open();
    const entry = { url: server.url, headers: { Authorization: "Bearer wrong" } };
    box.write("home/.config/plugboard/config.json", { mcpServers: { issues: entry } });
    expect(await box.cli(call, { forms: [] })).toMatchObject({ code: 6, asked: [] });
  });

  it("names the account", async () => {
    const { box } = await open();
    const { code, asked } = await box.cli([...call, "--profile", "work"], { forms: [true] });
    expect([code, asked.at(-1)]).toEqual([0, "Log in to issues as work now?"]);
    expect((await box.cli(["get", "issues", "--profile", "work"])).out).toContain("(work)");
    expect((await box.cli(call)).code).toBe(6);
  });

  it("is offered again with more scopes if a tool needs them", async () => {
    const { box } = await open({}, { requires: { all: ["read"], tools: { add: ["write"] } } });
    const { code, out, asked } = await box.cli(call, { forms: [true, true] });
    expect([code, out]).toEqual([0, expect.stringContaining("3")]);
    expect(asked.filter((line) => line.endsWith("?"))).toEqual([
      "Log in to issues now?",
      "Log in to issues again, for write?",
    ]);
  });

  it("is not offered twice after a no", async () => {
    const { box } = await open({ autoConsent: "deny" });
    const { code, err, asked } = await box.cli(call, { forms: [true] });
    expect([code, asked.length]).toEqual([6, 2]);
    expect(err).toContain("denied");
  });

  it("is cancelled by Ctrl-C while the browser is open", async () => {
    const { box, opened } = await open();
    box.env["IDLE_BROWSER"] = "1";
    const interrupt = new AbortController();
    const { code, out, err } = await box.cli(call, {
      forms: [true],
      signal: interrupt.signal,
      onErr: (text) => {
        if (text.includes("/authorize?")) setImmediate(() => interrupt.abort(new Interrupted("SIGINT")));
      },
    });
    expect([code, out]).toEqual([130, ""]);
    expect(err).not.toContain("error:");
    expect(opened().length).toBeLessThanOrEqual(1);
    delete box.env["IDLE_BROWSER"];
    expect(await box.cli(call, { forms: [true] })).toMatchObject({ code: 0 });
  });

  it("accepts a pasted address if no browser can be opened", async () => {
    const { box, opened } = await open();
    box.env["PATH"] = box.path("home/nowhere");
    const page = Promise.withResolvers<URL>();
    const pasted = page.promise.then(redirectOf) as unknown as string;
    const { code, out, err, asked } = await box.cli(call, {
      forms: [true, pasted],
      onErr: (text) => {
        const address = /http\S+\/authorize\?\S+/.exec(text)?.[0];
        if (address !== undefined) page.resolve(new URL(address));
      },
    });
    expect([code, out]).toEqual([0, expect.stringContaining("3")]);
    expect(err).toContain("Could not open a browser here.\n");
    expect(asked.slice(-2)).toEqual([
      "Log in to issues now?",
      "Paste the final address from the browser (the page may show an error)",
    ]);
    expect(opened()).toEqual([]);
  });
});
