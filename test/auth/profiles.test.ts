import { describe, expect, it } from "vitest";
import { isPlugboardError } from "../../src/index.ts";
import type { Hub, LoginOptions, PlugboardError } from "../../src/index.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { fakeStdio, startFakeHttp } from "../fixtures/fake/index.ts";
import { openScene } from "./oauth-fixture.ts";
import type { Scene } from "./oauth-fixture.ts";

const add = "mcp__issues__add";
const args = { a: 1, b: 2 };

/** A browser in which this person agrees. */
function as(user: string): Pick<LoginOptions, "openUrl"> {
  return {
    openUrl: (url) => {
      url.searchParams.set("login_hint", user);
      void fetch(url).then((response) => response.text());
    },
  };
}

/** Two accounts of one server: ada's is the configured one, bob's is called `work`. */
async function twoAccounts(entry: object = {}) {
  const scene = await openScene({ users: ["ada", "bob"] });
  const hub = await scene.hub(entry);
  await hub.login("issues", as("ada"));
  await hub.login("issues", { profile: "work", ...as("bob") });
  return { scene, hub };
}

/** Who asked the server for what, in the server's own view. */
function asked({ server, auth }: Scene): { method: string; user: string }[] {
  return server.received.flatMap(({ message, headers }) => {
    const { method } = (message ?? {}) as { method?: string };
    const [, token = ""] = /^Bearer (\S+)$/.exec(headers["authorization"]?.toString() ?? "") ?? [];
    if (method === undefined) return [];
    return [{ method, user: auth.introspect(token).sub ?? "nobody" }];
  });
}

function usersOf(scene: Scene, method: string): string[] {
  return asked(scene)
    .filter((one) => one.method === method)
    .map(({ user }) => user);
}

async function refusal(work: Promise<unknown>): Promise<PlugboardError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isPlugboardError(error)) throw new Error("expected a PlugboardError", { cause: error });
  return error;
}

async function sum(hub: Pick<Hub, "callTool">, profile?: string): Promise<unknown> {
  return (await hub.callTool(add, args, { profile })).structuredContent;
}

describe("M75 two accounts of one server", () => {
  it.each(["shared", "caller", "call"])(
    "are used at the same time by one hub, each request as the right one (isolation %s)",
    async (isolation) => {
      const { scene, hub } = await twoAccounts({ isolation });
      const work = hub.view({ profile: "work" });
      const calls = [
        ...Array.from({ length: 4 }, () => sum(hub)),
        ...Array.from({ length: 4 }, () => sum(hub, "work")),
        ...Array.from({ length: 4 }, () => sum(work)),
      ];
      expect(await Promise.all(calls)).toEqual(calls.map(() => ({ sum: 3 })));
      expect(usersOf(scene, "tools/call").toSorted()).toEqual([
        ...Array.from({ length: 4 }, () => "ada"),
        ...Array.from({ length: 8 }, () => "bob"),
      ]);
      expect(usersOf(scene, "tools/list").toSorted()).toEqual(["ada", "bob"]);
    },
  );

  it("have sessions of their own", async () => {
    const { scene, hub } = await twoAccounts({ protocol: "legacy" });
    await sum(hub);
    await sum(hub, "work");
    const sessions = new Map<string, Set<string>>();
    for (const { headers } of scene.server.received) {
      const session = headers["mcp-session-id"]?.toString();
      const [, token = ""] = /^Bearer (\S+)$/.exec(headers["authorization"]?.toString() ?? "") ?? [];
      if (session === undefined) continue;
      const names = sessions.get(session) ?? new Set();
      sessions.set(session, names.add(scene.auth.introspect(token).sub ?? "nobody"));
    }
    const users = [...sessions.values()].map((names) => [...names].join(" and "));
    expect(users.toSorted()).toEqual(["ada", "bob"]);
  });

  it("read resources, fill in prompts and use the raw door as whoever is named", async () => {
    const { scene, hub } = await twoAccounts();
    await hub.readResource("issues", "fake://readme", { profile: "work" });
    await hub.getPrompt("issues.greet", {}, { profile: "work" });
    await hub.request("completion/complete", {}, { server: "issues", profile: "work" });
    const work = hub.view({ profile: "work" });
    await work.resources();
    await (
      await work.subscribeResource("issues", "fake://readme", () => undefined)
    )();
    const users = new Set(asked(scene).map(({ user }) => user));
    expect([...users]).toEqual(["bob"]);
    const methods = asked(scene).map(({ method }) => method);
    for (const method of ["resources/read", "prompts/get", "completion/complete", "resources/list"])
      expect(methods).toContain(method);
  });

  it("are renewed each by itself", async () => {
    const { scene, hub } = await twoAccounts();
    await sum(hub);
    await sum(hub, "work");
    scene.auth.expireAccessTokens();
    expect(await Promise.all([sum(hub), sum(hub, "work")])).toEqual([{ sum: 3 }, { sum: 3 }]);
    expect(scene.auth.stats).toMatchObject({ refreshes: 2, reuses: 0 });
    // What was sent with the old tokens is nobody's by now.
    const users = usersOf(scene, "tools/call").filter((user) => user !== "nobody");
    expect(users.toSorted()).toEqual(["ada", "bob"]);
  });

  it("are both visible", async () => {
    const { hub } = await twoAccounts();
    await sum(hub);
    await sum(hub, "work");
    expect(hub.status()).toMatchObject([
      { state: "connected", account: { user: "ada", profile: "default" } },
    ]);
    expect(hub.status({ profile: "work" })).toMatchObject([
      { state: "connected", account: { user: "bob", profile: "work" } },
    ]);
  });

  it("end one by one: logging out of one leaves the other connected", async () => {
    const { hub } = await twoAccounts();
    await sum(hub);
    await sum(hub, "work");
    await hub.logout("issues", { profile: "work" });
    expect(hub.status()).toMatchObject([{ state: "connected" }]);
    expect(await refusal(sum(hub, "work"))).toMatchObject({
      code: "auth-required",
      message: 'There is no login "work" to "issues".',
      hint: "Run `plugboard login issues --profile work`.",
    });
    expect(await sum(hub)).toEqual({ sum: 3 });
  });

  it("end with the hub", async () => {
    const { scene, hub } = await twoAccounts({ protocol: "legacy" });
    await sum(hub);
    await sum(hub, "work");
    await hub.close();
    const ended = scene.server.received.filter(({ method }) => method === "DELETE");
    expect(ended).toHaveLength(2);
    expect(await refusal(sum(hub, "work"))).toMatchObject({ code: "connection-lost" });
  });

  it("remember what each of them was shown", async () => {
    const { scene, hub } = await twoAccounts();
    const store = createMemoryStore({ now: Date.now });
    const first = await scene.hub({}, { store });
    await sum(first, "work");
    const later = await scene.hub({}, { store });
    const names = async (view: Pick<Hub, "tools">) =>
      (await view.tools({ wait: false })).map(({ name }) => name);
    expect(await names(later)).toEqual([]);
    expect(await names(later.view({ profile: "work" }))).toContain("add");
    // The same account has the same memory, however it was chosen.
    await hub.close();
    const chosen = await scene.hub({}, { store });
    await chosen.reload({ servers: { issues: { url: scene.server.url } }, profiles: { issues: "work" } });
    expect(await names(chosen)).toContain("add");
  });
});

describe("M75 an account that is chosen", () => {
  it("by name, without a login, says so, and nothing is sent", async () => {
    const { scene, hub } = await twoAccounts();
    scene.server.received.length = 0;
    expect(await refusal(sum(hub, "wrok"))).toMatchObject({
      code: "auth-required",
      message: 'There is no login "wrok" to "issues".',
      hint: "Run `plugboard login issues --profile wrok`.",
    });
    expect(scene.server.received).toEqual([]);
    await hub.login("issues", { profile: "wrok", ...as("bob") });
    expect(await sum(hub, "wrok")).toEqual({ sum: 3 });
  });

  it("is not chosen again by whoever gets the view", async () => {
    const { hub } = await twoAccounts();
    const work = hub.view({ profile: "work" });
    expect(() => work.view({ profile: "default" })).toThrow('already uses the profile "work"');
    expect(await refusal(work.callTool(add, args, { profile: "default" }))).toMatchObject({
      code: "usage-invalid",
    });
    const raw = work.request("ping", {}, { server: "issues", profile: "default" });
    expect(await refusal(raw)).toMatchObject({ code: "usage-invalid" });
    expect(await sum(work, "work")).toEqual({ sum: 3 });
  });

  it("by `profiles` comes before the entry's own, for calls and for logins, and changes with a reload", async () => {
    const { scene, hub } = await twoAccounts();
    const servers = { issues: { url: scene.server.url, oauth: { profile: "other" } } };
    await hub.reload({ servers, profiles: { issues: "work" } });
    await sum(hub);
    expect(await hub.account("issues")).toMatchObject({ user: "bob", profile: "work" });
    expect(hub.status()).toMatchObject([{ account: { user: "bob", profile: "work" } }]);
    await hub.reload({ servers, profiles: { issues: "default" } });
    await sum(hub);
    expect(usersOf(scene, "tools/call")).toEqual(["bob", "ada"]);
    await hub.reload({ servers, profiles: { issues: "third" } });
    expect(await refusal(sum(hub))).toMatchObject({ hint: "Run `plugboard login issues --profile third`." });
    expect(await hub.login("issues", as("bob"))).toMatchObject({ profile: "third" });
  });

  it("is the same connection as the configured one where they are the same", async () => {
    const { scene, hub } = await twoAccounts({ protocol: "legacy" });
    await sum(hub);
    await sum(hub, "default");
    expect(usersOf(scene, "initialize")).toEqual(["ada"]);
    expect(hub.status({ profile: "default" })).toMatchObject([
      { state: "connected", account: { user: "ada" } },
    ]);
    await hub.logout("issues", { profile: "default" });
    expect(hub.status()).toMatchObject([{ state: "ready" }]);
  });

  it("means nothing to servers without accounts", async () => {
    const open = await startFakeHttp({});
    const { scene } = await twoAccounts();
    const hub = await scene.hub();
    await hub.reload({ servers: { here: fakeStdio({}), open: { url: open.url } } });
    const view = hub.view({ profile: "work" });
    for (const id of ["mcp__here__add", "mcp__open__add"])
      expect((await view.callTool(id, args)).structuredContent).toEqual({ sum: 3 });
    await hub.callTool("mcp__here__add", args);
    expect(hub.status().find(({ name }) => name === "here")).toMatchObject({ counts: { starts: 1 } });
    await hub.close();
    await open.close();
  });
});
