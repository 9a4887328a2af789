import { describe, expect, it, vi } from "vitest";
import type { Hub, Interact, PlugboardEvent } from "../../src/index.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { inProcessFake, openFake, openHub, openLogged } from "../servers/hub-fixture.ts";
import type { Servers } from "../servers/hub-fixture.ts";

const legacy = { versions: "legacy" as const };

/** Enters this name in every form. */
function person(name: string): Interact {
  return { elicit: async () => ({ action: "accept", content: { name } }) };
}

async function named(hub: Hub, caller: string, interact: Interact): Promise<string> {
  const view = hub.view({ caller, interact });
  const answer = await view.forwardCall("it.elicit", { arguments: {} }).catch((error: Error) => error);
  if (answer instanceof Error) return `failed: ${answer.message}`;
  if ("error" in answer) return `declined: ${answer.error.message}`;
  const { answers } = answer.result["structuredContent"] as { answers: { content?: { name: string } }[] };
  return answers[0]?.content?.name ?? "declined";
}

async function transports(): Promise<
  { kind: string; entry: Servers[string]; end: () => Promise<unknown> }[]
> {
  const http = await openFake(legacy);
  return [
    { kind: "stdio", entry: fakeStdio(legacy), end: async () => undefined },
    { kind: "in process", entry: inProcessFake(legacy), end: async () => undefined },
    { kind: "http", entry: { url: http.url }, end: async () => undefined },
    { kind: "sse", entry: { type: "sse", url: http.sseUrl }, end: async () => http[Symbol.asyncDispose]() },
  ];
}

describe("M62 a question goes to the caller whose request caused it", () => {
  it("with two callers on one shared legacy server, never by the wrong one, over every transport", async () => {
    for (const { kind, entry, end } of await transports()) {
      await using hub = await openHub({ it: entry });
      const [ada, bob] = [person("ada"), person("bob")];
      hub.view({ caller: "ada", interact: ada });
      const one = await named(hub, "ada", ada);
      const two = await named(hub, "bob", bob);
      expect([one, two], kind).toEqual(["ada", "bob"]);
      const wanted = Array.from({ length: 200 }, (_, index) => (index % 2 === 0 ? "ada" : "bob"));
      const got = await Promise.all(wanted.map((who) => named(hub, who, who === "ada" ? ada : bob)));
      const wrong = got.filter((who, index) => (who === "ada" || who === "bob") && who !== wanted[index]);
      expect(wrong, kind).toEqual([]);
      if (kind === "http") expect(got, kind).toEqual(wanted);
      // On the others the server asked during one caller's request, so callers no longer share a connection.
      else expect(got.filter((who, index) => who === wanted[index]).length, kind).toBeGreaterThan(100);
      await end();
    }
  });

  it("is declined with a reason if it could belong to requests of several callers", async () => {
    const slow = { when: { tool: "sleep" }, do: [{ waitFor: { tool: "add" } }, { default: true as const }] };
    await using hub = await openHub({ it: fakeStdio({ ...legacy, on: [slow] }) });
    const bob = hub.view({ caller: "bob", interact: person("bob") });
    await hub.connect("it");
    const sleeping = bob.callTool("it.sleep", { ms: 1 });
    expect(await named(hub, "ada", person("ada"))).toMatch(/declined: .*Several people/);
    // From now on they do not share a connection, so the same question is answered.
    expect(await named(hub, "ada", person("ada"))).toBe("ada");
    await hub.view({ caller: "carl" }).callTool("it.add", { a: 1, b: 2 });
    await bob.callTool("it.add", { a: 1, b: 2 });
    await hub.callTool("it.add", { a: 1, b: 2 });
    await sleeping;
  });

  it("is never answered by somebody else once its own request was given up", async () => {
    const elicit = { request: { method: "elicitation/create", params: { message: "?" } } };
    const late = {
      when: { tool: "add" },
      do: [{ waitFor: { tool: "echo", nth: 2 } }, elicit, { default: true as const }],
    };
    await using hub = await openHub(
      { it: fakeStdio({ ...legacy, on: [late] }) },
      { interact: person("root") },
    );
    const asked: string[] = [];
    const named = (who: string): Interact => ({
      elicit: async () => {
        asked.push(who);
        return { action: "accept", content: { who } };
      },
    });
    const ada = hub.view({ caller: "ada", interact: named("ada") });
    const bob = hub.view({ caller: "bob", interact: named("bob") });
    await bob.callTool("it.echo");
    const stop = new AbortController();
    const given = ada.callTool("it.add", { a: 1, b: 2 }, { signal: stop.signal });
    await vi.waitFor(() =>
      expect(hub.calls().some(({ tool, outcome }) => tool.endsWith("add") && !outcome)).toBe(true),
    );
    stop.abort();
    await expect(given).rejects.toMatchObject({ code: "call-cancelled" });
    const sleeping = bob.callTool("it.sleep", { ms: 300 });
    await bob.callTool("it.echo");
    await sleeping;
    expect(asked).toEqual([]);
  });

  it("reaches a person who is alone, also after cancellations and with a handler made for each call", async () => {
    for (const caller of ["ada", undefined]) {
      await using hub = await openHub({ it: fakeStdio(legacy) }, { interact: person("root") });
      const view = hub.view({ caller });
      for (let turn = 0; turn < 3; turn++) {
        const stop = new AbortController();
        const onQuestion = async () => ({ action: "accept", content: { name: `turn ${turn}` } });
        const given = view.forwardCall(
          "it.sleep",
          { arguments: { ms: 60_000 } },
          { signal: stop.signal, onQuestion },
        );
        await vi.waitFor(() => expect(hub.calls().some(({ outcome }) => !outcome)).toBe(true));
        stop.abort();
        await expect(given).rejects.toMatchObject({ code: "call-cancelled" });
        const answer = await view.forwardCall("it.elicit", { arguments: {} }, { onQuestion });
        expect(JSON.stringify(answer)).toContain(`turn ${turn}`);
      }
    }
  });

  it("gets a response from us even if its request is over", async () => {
    await using logged = await openLogged(legacy);
    const interact: Interact = { elicit: () => new Promise(() => undefined) };
    await using hub = await openHub({ it: logged.entry }, { interact });
    const call = hub.callTool("it.elicit").catch((error: { code: string }) => error.code);
    await vi.waitFor(() => expect(hub.questions()).toHaveLength(1));
    hub.cancel(hub.calls()[0]?.call ?? "");
    expect(await call).toBe("call-cancelled");
    await vi.waitFor(() => {
      const answers = logged.heard().filter((message) => !("method" in message));
      expect(answers).toMatchObject([{ error: { code: -32_000 } }]);
    });
  });

  it("belongs to its caller also where one `interact` answers for all", async () => {
    const asked: unknown[] = [];
    const interact: Interact = { elicit: () => new Promise(() => undefined) };
    await using hub = await openHub({ it: fakeStdio(legacy) }, { interact });
    const [ada, bob] = [hub.view({ caller: "ada" }), hub.view({ caller: "bob" })];
    await ada.callTool("it.echo");
    hub.on("question-asked", ({ caller }) => asked.push(caller));
    const sleeping = ada.callTool("it.sleep", { ms: 500 });
    // It cannot be told whose it is, so it is declined; from then on bob has a connection of his own.
    await expect(bob.callTool("it.elicit")).rejects.toThrow(/Several people/);
    const second = bob.callTool("it.elicit").catch(() => "ended");
    await vi.waitFor(() => expect(hub.questions()).toHaveLength(1));
    expect(asked).toEqual(["bob"]);
    await sleeping;
    await hub.close();
    expect(await second).toBe("ended");
  });

  it("ends with its request, and with the hub", async () => {
    const interact: Interact = { elicit: () => new Promise(() => undefined) };
    for (const script of [legacy, { versions: "modern" as const }]) {
      await using hub = await openHub({ it: fakeStdio(script) }, { interact });
      const call = hub.callTool("it.elicit").catch((error: { code: string }) => error.code);
      await vi.waitFor(() => expect(hub.questions()).toHaveLength(1));
      hub.cancel(hub.calls()[0]?.call ?? "");
      expect(await call).toBe("call-cancelled");
      expect(hub.questions()).toEqual([]);
      const stop = new AbortController();
      const again = hub
        .callTool("it.elicit", {}, { signal: stop.signal })
        .catch((error: { code: string }) => error.code);
      await vi.waitFor(() => expect(hub.questions()).toHaveLength(1));
      stop.abort();
      expect(await again).toBe("call-cancelled");
      const last = hub.callTool("it.elicit").catch((error: { code: string }) => error.code);
      await vi.waitFor(() => expect(hub.questions()).toHaveLength(1));
      const answered = vi.fn();
      hub.on("question-answered", answered);
      await hub.close();
      expect(["call-cancelled", "connection-lost"]).toContain(await last);
      expect(answered).toHaveBeenCalledOnce();
    }
  });

  it("does not freeze a call for ever when the server withdraws it", async () => {
    const ask = { request: { method: "elicitation/create", params: { message: "?" } }, wait: false };
    const withdraw = { notify: { method: "notifications/cancelled", params: { requestId: "fake-1" } } };
    const on = [{ when: { tool: "add" }, do: [ask, withdraw, { silent: true as const }] }];
    await using hub = await openHub({ it: fakeStdio({ ...legacy, on }) }, { interact: person("root") });
    const onQuestion = () => new Promise<never>(() => undefined);
    const call = hub.forwardCall("it.add", { arguments: { a: 1, b: 2 } }, { timeoutMs: 300, onQuestion });
    await expect(call).rejects.toMatchObject({ code: "call-timeout" });
  });

  it("is not declined because the hub itself reads a list", async () => {
    const slow = {
      when: { method: "tools/list", nth: 2 },
      do: [{ waitFor: { tool: "elicit" } }, { delayMs: 200 }, { default: true as const }],
    };
    await using hub = await openHub(
      { it: fakeStdio({ ...legacy, on: [slow] }) },
      { interact: person("root") },
    );
    await hub.tools();
    const reading = hub.refresh("it").catch(() => undefined);
    expect(JSON.stringify(await hub.forwardCall("it.elicit", { arguments: {} }))).toContain("root");
    await reading;
  });

  it("is rejected with the protocol's error code if no caller can answer it", async () => {
    const script = {
      ...legacy,
      on: [
        {
          when: { tool: "add" },
          do: [{ request: { method: "sampling/createMessage", params: {} } }, { default: true as const }],
        },
      ],
    };
    const heard: unknown[] = [];
    await using hub = await openHub({ it: fakeStdio(script) });
    hub.on("question-asked", (event) => heard.push(event));
    expect(await hub.callTool("it.sample").catch((error: Error) => error.message)).toMatch(/-32601/);
    expect(await hub.callTool("it.elicit").catch((error: Error) => error.message)).toMatch(/-32601/);
    expect(heard).toEqual([]);
  });

  it("goes to the request's own `onQuestion` first, with all parameters", async () => {
    await using hub = await openHub({ it: fakeStdio(legacy) }, { interact: person("hub") });
    const asked: unknown[] = [];
    const answer = await hub.forwardCall(
      "it.elicit",
      { arguments: { message: "Who?" } },
      {
        onQuestion: async ({ method, params }) => {
          asked.push([method, params]);
          return { action: "accept", content: { name: "own" } };
        },
      },
    );
    expect(JSON.stringify(answer)).toContain("own");
    expect(asked).toMatchObject([["elicitation/create", { message: "Who?", requestedSchema: {} }]]);
    const onQuestion = async () => ({ action: "accept", content: { name: 7 } });
    await expect(hub.forwardCall("it.elicit", { arguments: {} }, { onQuestion })).rejects.toMatchObject({
      code: "usage-invalid",
      message: expect.stringMatching(/name.*string/) as string,
    });
  });
});

describe("M62 the registry of questions", () => {
  it("lists an open question, accepts an answer through the hub, and emits events for both", async () => {
    const events: PlugboardEvent[] = [];
    const gaveUp = Promise.withResolvers<void>();
    const interact: Interact = {
      elicit: (_question, signal) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => {
            gaveUp.resolve();
            reject(new Error("somebody else answered"));
          });
        }),
    };
    await using hub = await openHub({ it: fakeStdio(legacy) }, { interact });
    for (const type of ["question-asked", "question-answered"] as const)
      hub.on(type, (event) => events.push(event));
    const call = hub.view({ caller: "ada" }).callTool("it.elicit");
    await vi.waitFor(() => expect(hub.questions()).toHaveLength(1));
    const [question] = hub.questions();
    expect(question).toMatchObject({ kind: "elicit", server: "it", caller: "ada", call: "c1" });
    expect(() => hub.answer("no-such", {})).toThrow(/no open question/);
    expect(() => hub.answer(question?.id ?? "", { decision: "allow" })).toThrow(/not a valid answer/);
    hub.answer(question?.id ?? "", { action: "accept", content: { name: "from outside" } });
    expect(JSON.stringify(await call)).toContain("from outside");
    await gaveUp.promise;
    expect(hub.questions()).toEqual([]);
    expect(events).toMatchObject([
      { type: "question-asked", kind: "elicit", server: "it", caller: "ada", call: "c1" },
      { type: "question-answered", kind: "elicit", outcome: "accepted" },
    ]);
  });

  it("has approvals too", async () => {
    const events: string[] = [];
    const entry = { ...fakeStdio(legacy), approval: "prompt" as const };
    const interact: Interact = { approve: () => new Promise(() => undefined) };
    await using hub = await openHub({ it: entry }, { interact });
    hub.on("question-asked", ({ kind }) => events.push(kind));
    hub.on("question-answered", ({ kind, outcome }) => events.push(`${kind} ${outcome}`));
    const denied = hub.callTool("it.add", { a: 1, b: 2 });
    await vi.waitFor(() => expect(hub.questions()).toHaveLength(1));
    hub.answer(hub.questions()[0]?.id ?? "", { decision: "deny", reason: "not today" });
    await expect(denied).rejects.toMatchObject({ code: "approval-denied", executed: "no" });
    const allowed = hub.callTool("it.add", { a: 1, b: 2 });
    await vi.waitFor(() => expect(hub.questions()).toHaveLength(1));
    hub.answer(hub.questions()[0]?.id ?? "", { decision: "allow" });
    await allowed;
    expect(events).toEqual(["approve", "approve declined", "approve", "approve accepted"]);
  });
});

describe("M61 an approval that took its time", () => {
  it("does not outlive the rules: what was denied meanwhile is not called", async () => {
    const interact: Interact = { approve: () => new Promise(() => undefined) };
    const entry = { ...fakeStdio(legacy), approval: "prompt" as const };
    await using hub = await openHub({ it: entry }, { interact });
    const call = hub.callTool("it.add", { a: 1, b: 2 });
    await vi.waitFor(() => expect(hub.questions()).toHaveLength(1));
    await hub.reload({ servers: { it: { ...entry, tools: { deny: ["add"] } } } });
    hub.answer(hub.questions()[0]?.id ?? "", { decision: "allow" });
    await expect(call).rejects.toMatchObject({ code: "tool-hidden" });
  });
});

describe("M44 deadlines and questions", () => {
  it("a call's deadline is paused while its question is open", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] });
    try {
      const asked = Promise.withResolvers<void>();
      const thinking = Promise.withResolvers<void>();
      const interact: Interact = {
        elicit: async () => {
          asked.resolve();
          await thinking.promise;
          return { action: "accept", content: { name: "slow" } };
        },
      };
      const entry = { ...inProcessFake(legacy), callTimeoutMs: 60_000 } as Servers[string];
      const hub = await openHub({ it: entry }, { interact });
      const call = hub.callTool("it.elicit", {}, { timeoutMs: 60_000 });
      await asked.promise;
      await vi.advanceTimersByTimeAsync(120_000);
      thinking.resolve();
      expect(JSON.stringify(await call)).toContain("slow");
      await hub.close();
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("M65 running calls", () => {
  it("are listed, can be cancelled by id, and stay in the log after they ended", async () => {
    await using hub = await openHub({ it: fakeStdio(legacy) });
    const sleeping = hub.view({ caller: "ada" }).callTool("it.sleep", { ms: 60_000 });
    await vi.waitFor(() => expect(hub.calls()).toHaveLength(1));
    const [call] = hub.calls();
    expect(call).toMatchObject({ server: "it", tool: "mcp__it__sleep", caller: "ada" });
    expect(call).not.toHaveProperty("outcome");
    hub.cancel(call?.call ?? "");
    await expect(sleeping).rejects.toMatchObject({ code: "call-cancelled" });
    expect(hub.calls()).toMatchObject([{ call: call?.call, outcome: "cancelled" }]);
    expect(() => hub.cancel(call?.call ?? "")).toThrow(/no call/);
    const told = await hub.callTool("it.cancelled");
    expect(JSON.stringify(told)).toMatch(/p\d/);
  });

  it("can be cancelled before they are sent, while they wait for their server or an approval", async () => {
    const hanging = { ...legacy, start: [{ silent: true as const }] };
    const asks = { ...fakeStdio(legacy), approval: "prompt" as const };
    const interact: Interact = { approve: () => new Promise(() => undefined) };
    await using hub = await openHub({ asks, hanging: fakeStdio(hanging) }, { interact });
    const waiting = hub.callTool("asks.add", { a: 1, b: 2 });
    await vi.waitFor(() => expect(hub.questions()).toHaveLength(1));
    hub.cancel(hub.calls()[0]?.call ?? "");
    await expect(waiting).rejects.toMatchObject({ code: "call-cancelled" });
    expect(hub.questions()).toEqual([]);
    const gone = new AbortController();
    const never = hub.callTool("hanging.add", {}, { signal: gone.signal });
    gone.abort();
    await expect(never).rejects.toMatchObject({ code: "call-cancelled", executed: "no" });
  });
});
