import { describe, expect, it, vi } from "vitest";
import { PlugboardError } from "../../src/index.ts";
import type { Hub, LogInQuestion } from "../../src/index.ts";
import type { ServerEntry } from "../../src/config/model.ts";
import { Questions } from "../../src/interact/questions.ts";
import { connectionKey } from "../../src/servers/connection-key.ts";
import type { Target } from "../../src/servers/target.ts";
import { LoginOnDemand } from "../../src/hub/login-on-demand.ts";
import type { AuthOptions, ProtectedOptions } from "../fixtures/auth/index.ts";
import type { Script } from "../fixtures/fake/index.ts";
import { add, browser, openScene, refusal, requestsOf, tokenRequests } from "./oauth-fixture.ts";
import type { Scene } from "./oauth-fixture.ts";

const echo = async (hub: Hub, signal?: AbortSignal) =>
  (await hub.callTool("mcp__issues__echo", { text: "hi" }, { signal })).structuredContent;

interface Person {
  asked: LogInQuestion[];
  /** The pages that were opened. */
  opened: URL[];
}

interface StepUp extends Scene, Person {
  logged: Hub;
}

/** Somebody logged in with `read`, and sits there to be asked for more. */
async function openStepUp(
  { protect, options, script }: { protect: ProtectedOptions; options?: AuthOptions; script?: Script },
  answer: (question: LogInQuestion) => Promise<boolean> | boolean = () => true,
): Promise<StepUp> {
  const scene = await openScene(options, protect, script);
  const person: Person = { asked: [], opened: [] };
  const interact = {
    logIn: async (question: LogInQuestion) => {
      person.asked.push(question);
      return (await answer(question)) ? browser(person.opened) : undefined;
    },
  };
  const logged = await scene.hub({ oauth: { scopes: ["read"] } }, { interact });
  await logged.login("issues", browser());
  await logged.tools();
  return { ...scene, ...person, logged };
}

const writes: ProtectedOptions = { requires: { tools: { add: ["write"] } } };

function asksFor(opened: URL | undefined): string[] | undefined {
  return opened?.searchParams.get("scope")?.split(" ").toSorted();
}

/** Until every call so far has been turned away, which is when all of them wait for a login. */
async function untilRefused({ server }: Pick<Scene, "server">, calls: number): Promise<void> {
  await vi.waitFor(
    () => expect(requestsOf(server, "tools/call").length).toBeGreaterThanOrEqual(calls),
    10_000,
  );
}

describe("a call that needs more scopes than the login has", () => {
  it("asks once, adds the scopes to the existing ones, and continues on the same connection", async () => {
    const { logged, asked, opened, events, server } = await openStepUp({ protect: writes });
    const changes = () => events.filter(({ type }) => type === "connection-changed").length;
    const before = changes();
    expect(await add(logged)).toEqual({ sum: 3 });
    expect(asked).toMatchObject([
      { kind: "log-in", server: "issues", profile: "default", scopes: ["write"] },
    ]);
    expect(asked[0]?.because).toContain("write");
    expect(opened.map(asksFor)).toEqual([["read", "write"]]);
    expect((await logged.account("issues"))?.scopes.toSorted()).toEqual(["read", "write"]);
    expect(changes()).toBe(before);
    const calls = server.mcp.received.filter(({ message }) => message?.["method"] === "tools/call");
    expect(calls).toHaveLength(1);
    expect(await add(logged)).toEqual({ sum: 3 });
    expect(asked).toHaveLength(1);
  });

  it("names only the missing scopes", async () => {
    const scene = await openStepUp({ protect: { requires: { tools: { add: ["read", "write"] } } } });
    expect(await add(scene.logged)).toEqual({ sum: 3 });
    expect(scene.asked).toMatchObject([{ scopes: ["write"] }]);
    expect(asksFor(scene.opened[0])).toEqual(["read", "write"]);
  });

  it("does not affect calls in progress", async () => {
    const script: Script = {
      on: [{ when: { tool: "echo" }, do: [{ waitFor: { tool: "add" } }, { default: true }] }],
    };
    const { logged, asked, server } = await openStepUp({ protect: writes, script });
    const slow = echo(logged);
    await untilRefused({ server }, 1);
    expect(await add(logged)).toEqual({ sum: 3 });
    expect(await slow).toEqual({ text: "hi" });
    expect(asked).toHaveLength(1);
  });

  it("shares its login with the others that need the same", async () => {
    const scene = await openStepUp({ protect: writes });
    const sums = await Promise.all(Array.from({ length: 5 }, () => add(scene.logged)));
    expect(sums).toEqual(Array.from({ length: 5 }, () => ({ sum: 3 })));
    expect(scene.asked).toHaveLength(1);
  });

  it("does not ask again when its refusal comes in after a login", async () => {
    const late = Promise.withResolvers<void>();
    const scene = await openStepUp({ protect: writes });
    scene.server.set({ faults: { mcp: { until: late.promise, times: 1 } } });
    const first = add(scene.logged);
    await untilRefused(scene, 1);
    expect(await add(scene.logged)).toEqual({ sum: 3 });
    late.resolve();
    expect(await first).toEqual({ sum: 3 });
    expect(scene.asked).toHaveLength(1);
  });

  it("waits for the login of another one that needs something else, and keeps both", async () => {
    const protect = { requires: { tools: { add: ["write"], echo: ["admin"] } } };
    const scene = await openStepUp({ protect });
    expect(await Promise.all([add(scene.logged), echo(scene.logged)])).toEqual([{ sum: 3 }, { text: "hi" }]);
    expect(scene.asked.map(({ scopes }) => scopes.join(" ")).toSorted()).toEqual(["admin", "write"]);
    expect(scene.opened.map(asksFor).at(-1)).toEqual(["admin", "read", "write"]);
    expect(await add(scene.logged)).toEqual({ sum: 3 });
    expect(scene.asked).toHaveLength(2);
  });

  it("fails with the command if the login is declined", async () => {
    const { logged, asked, opened } = await openStepUp({ protect: writes }, () => false);
    const error = await refusal(add(logged));
    expect(error).toMatchObject({
      code: "auth-failed",
      data: { reason: "insufficient-scope", scopes: ["write"] },
      hint: "Run `plugboard login issues --scopes '+write'`.",
    });
    expect([asked.length, opened.length]).toEqual([1, 0]);
    expect(await echo(logged)).toEqual({ text: "hi" });
  });

  it("fails with the scopes and the command if nobody can be asked", async () => {
    const scene = await openScene({}, writes);
    const hub = await scene.hub({ oauth: { scopes: ["read"] } });
    await hub.login("issues", browser());
    const error = await refusal(add(hub));
    expect(error.message).toContain("write");
    expect(error.hint).toBe("Run `plugboard login issues --scopes '+write'`.");
  });

  it("asks at most three times, however many scopes a server wants", async () => {
    const scopes = ["read", "one", "two", "three", "four", "five"];
    const want = (scope: string): ProtectedOptions => ({ requires: { tools: { add: [scope] } } });
    const scene: StepUp = await openStepUp({ protect: want("one"), options: { scopes } }, () => {
      scene.server.set(want(scopes[scene.asked.length + 1] ?? ""));
      return true;
    });
    const error = await refusal(add(scene.logged));
    expect(error).toMatchObject({ code: "auth-failed", data: { scopes: ["four"] } });
    expect(scene.asked.map((question) => question.scopes)).toEqual([["one"], ["two"], ["three"]]);
  });

  it.each([
    { how: "a server that is never satisfied", granted: "read write", logins: 1 },
    { how: "an authorization server that grants less", granted: "read", logins: 1 },
  ])("ends at $how", async ({ granted, logins }) => {
    const scene = await openStepUp({ protect: writes });
    scene.auth.set({ alter: { token: (answer) => ({ ...answer, scope: granted }) } });
    const challenge = 'Bearer error="insufficient_scope", scope="write"';
    const answer = { status: 403, headers: { "www-authenticate": challenge } };
    scene.server.set({ faults: { mcp: { answer } } });
    expect(await refusal(add(scene.logged))).toMatchObject({ data: { reason: "insufficient-scope" } });
    expect(scene.asked).toHaveLength(logins);
  });

  it("leaves a login renewable whose authorization server does not name the right to that among the others", async () => {
    const offline = "offline_access";
    const hide = (answer: Record<string, unknown>) => ({
      ...answer,
      scope: String(answer["scope"]).replace(` ${offline}`, ""),
    });
    const options: AuthOptions = {
      refreshTokens: offline,
      scopes: ["read", "write", offline],
      alter: { token: hide },
    };
    const scene = await openStepUp({ protect: writes, options });
    expect(await scene.logged.account("issues")).toMatchObject({ renewable: true, scopes: ["read"] });
    expect(await add(scene.logged)).toEqual({ sum: 3 });
    expect(await scene.logged.account("issues")).toMatchObject({ renewable: true });
    expect(asksFor(scene.opened[0])).toEqual([offline, "read", "write"]);
  });

  it("ends with its signal, and the question with it", async () => {
    const stop = new AbortController();
    const scene = await openScene({}, writes);
    const signals: AbortSignal[] = [];
    const interact = {
      logIn: async (_question: LogInQuestion, signal: AbortSignal) => {
        signals.push(signal);
        return { openUrl: () => stop.abort() };
      },
    };
    const hub = await scene.hub({ oauth: { scopes: ["read"] } }, { interact });
    await hub.login("issues", browser());
    const error = await refusal(hub.callTool("mcp__issues__add", { a: 1, b: 2 }, { signal: stop.signal }));
    expect(error).toMatchObject({ code: "call-cancelled", server: "issues" });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(await hub.account("issues")).toMatchObject({ scopes: ["read"] });
  });

  it("gets them without asking if the login needs no person", async () => {
    const client = { client_id: "robot", client_secret: "s3cret-of-mine" };
    const scene = await openScene(
      { clients: [client] },
      { requires: { all: ["read"], tools: { add: ["write"] } } },
    );
    const oauth = {
      grant: "client-credentials",
      clientId: "robot",
      clientSecret: "s3cret-of-mine",
      scopes: ["read", "write"],
    };
    const hub = await scene.hub({ oauth });
    expect(await echo(hub)).toEqual({ text: "hi" });
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(tokenRequests(scene.auth).map(({ params }) => params.get("scope"))).toEqual([
      "read",
      "read write",
    ]);
  });
});

describe("calls that wait for one login", () => {
  /** Logins that end when the test says so, and calls that need them. */
  function openWaiting() {
    const pages: { scopes: string[]; signal: AbortSignal; agree(): void }[] = [];
    const granted = new Set<string>();
    const key = connectionKey({ server: "issues", account: "default" });
    const onDemand = new LoginOnDemand({
      questions: new Questions({ emit: () => undefined, now: () => 0 }),
      servers: {
        key: () => key,
        entry: () => ({}) as ServerEntry,
        chosenAccount: () => undefined,
        withTarget: (_key, work) => work({} as Target),
        takeLogin: async () => undefined,
        reconnectAccount: async () => undefined,
      },
      signIn: {
        account: () => undefined,
        canLogIn: () => true,
        login: async (_server, _target, { scopes = [], signal = AbortSignal.abort() }) => {
          const { promise, resolve, reject } = Promise.withResolvers<void>();
          signal.addEventListener("abort", () => reject(new Error("given up")));
          pages.push({ scopes, signal, agree: resolve });
          await promise;
          for (const scope of scopes) granted.add(scope.slice(1));
          const issuer = "https://issuer.example";
          return { profile: "default", issuer, scopes: [...granted], renewable: true, ended: false };
        },
      },
      now: () => 0,
    });
    const use = { interact: { logIn: async () => ({}) } };
    const call = (scope: string, signal?: AbortSignal) =>
      onDemand.run({ use, signal }, async () => {
        if (granted.has(scope)) return scope;
        const missingScopes = [scope];
        throw new PlugboardError("auth-failed", "More is needed.", { server: "issues", missingScopes });
      });
    const page = (index: number) =>
      vi.waitFor(() => pages[index] ?? expect.fail("no page was opened"), 10_000);
    return { call, page, pages };
  }

  it("do not cancel it for the others", async () => {
    const { call, page, pages } = openWaiting();
    const stop = new AbortController();
    const first = refusal(call("write", stop.signal));
    const second = call("write");
    const { agree, signal } = await page(0);
    stop.abort();
    expect(await first).toMatchObject({ code: "call-cancelled", server: "issues" });
    expect(signal.aborted).toBe(false);
    agree();
    expect(await second).toBe("write");
    expect(pages).toHaveLength(1);
  });

  it("cancel it when the last of them is cancelled; the next call starts a new one", async () => {
    const { call, page, pages } = openWaiting();
    const stop = new AbortController();
    const both = [call("write", stop.signal), call("write", stop.signal)].map(refusal);
    const { signal } = await page(0);
    stop.abort();
    expect(await Promise.all(both)).toMatchObject([{ code: "call-cancelled" }, { code: "call-cancelled" }]);
    expect(signal.aborted).toBe(true);
    const next = call("write");
    (await page(1)).agree();
    expect(await next).toBe("write");
    expect(pages).toHaveLength(2);
  });

  it("wait for their turn when they need different things", async () => {
    const { call, page, pages } = openWaiting();
    const calls = [call("write"), call("admin"), call("write")];
    const { agree } = await page(0);
    expect(pages.map(({ scopes }) => scopes)).toEqual([["+write"]]);
    agree();
    (await page(1)).agree();
    expect(await Promise.all(calls)).toEqual(["write", "admin", "write"]);
    expect(pages.map(({ scopes }) => scopes)).toEqual([["+write"], ["+admin"]]);
  });
});

describe("a first use without a login", () => {
  const uses: [string, (hub: Hub) => Promise<unknown>][] = [
    ["callTool", async (hub) => expect(await add(hub)).toEqual({ sum: 3 })],
    ["readResource", (hub) => hub.readResource("issues", "fake://readme")],
    ["connect", (hub) => hub.connect("issues")],
    ["findTool", (hub) => hub.findTool("issues.add")],
  ];
  it.each(uses)("by %s asks somebody to log in, and goes on", async (_name, use) => {
    const scene = await openScene({}, { requires: { all: ["read"] } });
    const asked: LogInQuestion[] = [];
    const logIn = async (question: LogInQuestion) => {
      asked.push(question);
      return browser();
    };
    const hub = await scene.hub({}, { interact: { logIn } });
    await use(hub);
    expect(asked).toMatchObject([{ server: "issues", profile: "default", scopes: [] }]);
    expect(hub.status()).toMatchObject([{ state: "connected", account: { user: "ada", scopes: ["read"] } }]);
  });

  it.each(uses)("by %s fails with the command when nobody wants to", async (_name, use) => {
    const scene = await openScene();
    const logIn = vi.fn(async () => undefined);
    const hub = await scene.hub({}, { interact: { logIn } });
    expect(await refusal(use(hub))).toMatchObject({
      code: "auth-required",
      hint: "Run `plugboard login issues`.",
    });
    expect(logIn).toHaveBeenCalledTimes(1);
    expect(scene.auth.stats).toMatchObject({ registrations: 0, authorizations: 0 });
  });

  it("asks for the account that the call chose", async () => {
    const scene = await openScene();
    const asked: LogInQuestion[] = [];
    const logIn = async (question: LogInQuestion) => {
      asked.push(question);
      return browser();
    };
    const hub = await scene.hub({}, { interact: { logIn } });
    await hub.callTool("mcp__issues__add", { a: 1, b: 2 }, { profile: "work" });
    expect(asked).toMatchObject([{ profile: "work" }]);
    expect(await hub.account("issues", { profile: "work" })).toMatchObject({ user: "ada" });
    expect(await hub.account("issues")).toBeUndefined();
  });

  it("is over when the login fails, with the reason", async () => {
    const scene = await openScene({ autoConsent: "deny" });
    const logIn = vi.fn(async () => browser());
    const hub = await scene.hub({}, { interact: { logIn } });
    expect(await refusal(add(hub))).toMatchObject({ code: "auth-failed", data: { reason: "refused" } });
    expect(logIn).toHaveBeenCalledTimes(1);
  });

  it("stops waiting when the hub closes", async () => {
    const scene = await openScene();
    const opened = Promise.withResolvers<void>();
    const logIn = async () => ({ openUrl: () => opened.resolve() });
    const hub = await scene.hub({}, { interact: { logIn } });
    const call = refusal(add(hub));
    await opened.promise;
    await hub.close();
    expect(await call).toMatchObject({ server: "issues" });
  });
});
