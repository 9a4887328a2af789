import { readdirSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";
import { redirectOf } from "../auth/oauth-fixture.ts";
import { startAuthServer, startProtectedMcp } from "../fixtures/auth/index.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";

const call = ["call", "issues.add", "a=1", "b=2"];
const user = "home/.config/plugboard/config.json";

/** A server where ada has the configured account and bob the account `work`, and a local server. */
async function open(entry: object = {}) {
  const auth = await startAuthServer({ autoConsent: true, users: ["ada", "bob"] });
  const server = await startProtectedMcp(auth);
  onTestFinished(async () => {
    await server.close();
    await auth.close();
  });
  const box = createSandbox({
    [user]: { mcpServers: { issues: { url: server.url, ...entry }, here: fakeStdio({}) } },
  });
  await logIn(box, "ada");
  await logIn(box, "bob", "--profile", "work");
  /** Who sent what since the last call. */
  const seen = () =>
    server.received.splice(0).flatMap(({ message, headers }) => {
      const { method } = (message ?? {}) as { method?: string };
      const token = headers["authorization"]?.toString().split(" ")[1] ?? "";
      return method === undefined ? [] : [{ method, who: auth.introspect(token).sub }];
    });
  const callers = () => seen().flatMap(({ method, who }) => (method === "tools/call" ? [who] : []));
  return { box, seen, callers };
}

async function logIn(box: Sandbox, who: string, ...more: string[]): Promise<void> {
  const url = Promise.withResolvers<string>();
  const { code } = await box.cli(["login", "issues", "--no-browser", ...more], {
    get input() {
      return url.promise.then((address) =>
        redirectOf(new URL(`${address}&login_hint=${who}`)),
      ) as unknown as string;
    },
    onErr: (err) => {
      const [address] = /http:\/\/127\.0\.0\.1:\d+\/authorize\S+/.exec(err) ?? [];
      if (address !== undefined) url.resolve(address);
    },
  });
  expect(code).toBe(0);
}

describe("M75 --profile", () => {
  it("calls, reads and lists as that account", async () => {
    const { box, seen, callers } = await open();
    for (const words of [call, [...call, "--profile", "work"], [...call, "--profile", "default"]])
      expect((await box.cli(words)).code).toBe(0);
    expect(callers()).toEqual(["ada", "bob", "ada"]);
    for (const words of [
      ["read", "issues", "fake://readme"],
      ["prompt", "issues.greet"],
      ["tools", "issues", "--refresh"],
      ["tools", "issues.add", "--refresh"],
      ["resources", "issues", "--refresh"],
      ["prompts", "issues", "--refresh"],
    ]) {
      expect((await box.cli([...words, "--profile", "work"])).code).toBe(0);
      expect(new Set(seen().map(({ who }) => who))).toEqual(new Set(["bob"]));
    }
  });

  it("completes the accounts of the server, without asking it", async () => {
    const { box, seen } = await open();
    seen();
    const offered = async (...line: string[]) =>
      (await box.cli(["completion", "words", "--", ...line, "--profile", ""])).out;
    expect(await offered("call", "issues.add")).toBe("default\nwork\n");
    expect(await offered("logout", "issues")).toBe("default\nwork\n");
    expect(await offered("read", "here")).toBe("");
    expect(seen()).toEqual([]);
  });

  it("shows the account in status and get", async () => {
    const { box } = await open();
    expect((await box.cli(["status", "issues"])).out).toMatch(/issues as ada at \S+,/);
    expect((await box.cli(["status", "issues", "--profile", "work"])).out).toMatch(
      /issues as bob at \S+ \(work\)/,
    );
    expect((await box.cli(["status", "issues", "--profile", "work", "--json"])).json).toMatchObject({
      servers: [{ name: "issues", account: { user: "bob", profile: "work" } }],
    });
    expect((await box.cli(["get", "issues"])).out).toContain("as    ada at");
    expect((await box.cli(["get", "issues", "--profile", "work", "--json"])).json).toMatchObject({
      profile: "work",
      account: { user: "bob" },
    });
  });

  it("says that an account does not exist and how to create it", async () => {
    const { box, callers } = await open();
    const { code, err, out } = await box.cli([...call, "--profile", "wrok"]);
    expect([code, out]).toEqual([6, ""]);
    expect(err).toContain('error: There is no login "wrok" to "issues".');
    expect(err).toContain("Run `plugboard login issues --profile wrok`.");
    const status = await box.cli(["status", "issues", "--profile", "wrok"]);
    expect([status.code, status.out]).toEqual([
      6,
      expect.stringContaining("plugboard login issues --profile wrok"),
    ]);
    const shown = await box.cli(["get", "issues", "--profile", "wrok"]);
    expect(shown.out).toContain("as    wrok: plugboard login issues --profile wrok");
    expect(callers()).toEqual([]);
  });

  it("is refused for a server that has no accounts, and without a name", async () => {
    const { box } = await open();
    for (const words of [
      ["call", "here.add", "a=1", "b=2"],
      ["read", "here", "fake://readme"],
      ["tools", "here"],
      ["tools", "here.add"],
      ["get", "here"],
    ]) {
      const { code, err } = await box.cli([...words, "--profile", "work"]);
      expect([code, err]).toEqual([
        2,
        expect.stringContaining('"here" runs on this machine and has no accounts'),
      ]);
    }
    expect(await box.cli([...call, "--profile", ""])).toMatchObject({ code: 2 });
    // When listing all servers, those without accounts are unaffected.
    expect((await box.cli(["status", "--profile", "work"])).out).toContain("2 servers connected");
  });
});

describe("M75 a project's choice", () => {
  const choice = { profiles: { issues: "work" } };

  it("takes effect once trusted, for a server that is configured elsewhere", async () => {
    const { box, callers } = await open();
    box.write("project/plugboard.json", choice);
    await box.cli(call);
    expect(callers()).toEqual(["ada"]);
    expect((await box.cli(["trust", "--list"])).out).toContain("plugboard.json sets profiles");
    expect((await box.cli(["trust", "--yes"])).code).toBe(0);
    await box.cli(call);
    await box.cli([...call, "--profile", "default"]);
    expect(callers()).toEqual(["bob", "ada"]);
    expect((await box.cli(["status", "issues"])).out).toMatch(/issues as bob at \S+ \(work\)/);
    expect((await box.cli(["get", "issues"])).out).toContain("(work)");
    // A different choice is different content, so it needs trust again.
    box.write("project/plugboard.json", { profiles: { issues: "default" } });
    expect((await box.cli(["get", "issues"])).out).toContain("as    ada");
    box.write("project/plugboard.json", choice);
    await box.cli(call);
    expect(callers()).toEqual(["bob"]);
  });

  it("needs no trust in the user's own local scope", async () => {
    const { box, callers } = await open({ oauth: { profile: "default" } });
    await box.cli(["add", "other", "--", "true"]);
    const folder = "home/.local/state/plugboard/projects";
    const [file = ""] = readdirSync(box.path(folder));
    const local = JSON.parse(box.read(`${folder}/${file}`)) as object;
    box.write(`${folder}/${file}`, { ...local, ...choice });
    await box.cli(call);
    expect(callers()).toEqual(["bob"]);
  });

  it("is the account of a login without --profile", async () => {
    const { box } = await open();
    box.write("project/plugboard.json", { profiles: { issues: "third" } });
    await box.cli(["trust", "--yes"]);
    expect((await box.cli(call)).err).toContain("plugboard login issues --profile third");
    await logIn(box, "bob");
    expect((await box.cli(["get", "issues"])).out).toMatch(/as {4}bob at \S+ \(third\)/);
    expect(await box.cli(["logout", "issues", "--json"])).toMatchObject({ code: 0 });
    expect((await box.cli(["get", "issues", "--profile", "default"])).out).toContain("as    ada");
  });

  it("must be a name", async () => {
    const { box } = await open();
    box.write("project/plugboard.json", { profiles: { issues: 1 } });
    expect((await box.cli(["config", "validate"])).out).toContain("profiles.issues");
  });
});
