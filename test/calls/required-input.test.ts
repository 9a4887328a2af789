import { describe, expect, it } from "vitest";
import type { ElicitQuestion, Interact } from "../../src/index.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import type { Script, Step } from "../fixtures/fake/index.ts";
import { failure, openFake, openHub, openLogged } from "../servers/hub-fixture.ts";

const object = { type: "object" };

describe("M44 a result type", () => {
  const answer = { content: [{ type: "text", text: "plain" }], resultType: "input_required" };
  const on = [{ when: { tool: "echo" }, do: [{ answer }] }];

  it("is plain data in the result of a legacy server", async () => {
    await using hub = await openHub({ it: fakeStdio({ versions: "legacy", on }) });
    expect(await hub.callTool("it.echo")).toEqual(answer);
  });

  it("is plain data in the resources and prompts of a legacy server", async () => {
    const contents = { contents: [], resultType: "strange" };
    const messages = { messages: [], resultType: "input_required" };
    const script: Script = {
      versions: "legacy",
      on: [
        { when: { method: "resources/read" }, do: [{ answer: contents }] },
        { when: { method: "prompts/get" }, do: [{ answer: messages }] },
      ],
      prompts: [{ name: "p" }],
    };
    await using hub = await openHub({ it: fakeStdio(script) });
    expect(await hub.readResource("it", "x://y")).toEqual(contents);
    expect(await hub.getPrompt("it.p")).toEqual(messages);
  });
});

describe("M62 input that a modern server requires", () => {
  const modern = { versions: "modern" as const };

  it("counts up to the last allowed round", async () => {
    const interact: Interact = { elicit: async () => ({ action: "accept", content: { name: "ada" } }) };
    await using hub = await openHub({ it: fakeStdio(modern) }, { interact });
    const { structuredContent } = await hub.callTool("it.elicit", { rounds: 10 });
    expect(structuredContent?.["answers"]).toHaveLength(10);
    const error = await failure(hub.callTool("it.elicit", { rounds: 11 }));
    expect(error).toMatchObject({ code: "protocol-error", data: { maxRounds: 10 } });
  });

  it("is an error of ours if nobody can give it", async () => {
    for (const method of ["sampling/createMessage", "elicitation/create", "roots/list"]) {
      const answer = { resultType: "input_required", inputRequests: { one: { method, params: {} } } };
      const on = [{ when: { tool: "echo" }, do: [{ answer }] }];
      await using hub = await openHub({ it: fakeStdio({ ...modern, on }) });
      expect(await failure(hub.callTool("it.echo"))).toMatchObject({
        name: "PlugboardError",
        code: "question-declined",
        server: "it",
        tool: "mcp__it__echo",
        data: { method },
      });
    }
  });
});

describe("M62 a page that somebody has to open first", () => {
  const page = (elicitationId: string) => ({
    mode: "url",
    elicitationId,
    url: `https://login.example/${elicitationId}`,
    message: "Log in there",
  });
  const required = (...ids: string[]): Step => ({
    error: { code: -32_042, message: "Log in first", data: { elicitations: ids.map(page) } },
  });
  const legacy = (steps: Step[][]): Script => ({
    versions: "legacy",
    on: steps.map((step, at) => ({ when: { tool: "echo", nth: at + 1 }, do: step })),
  });
  const complete: Step = {
    notify: { method: "notifications/elicitation/complete", params: { elicitationId: "one" } },
  };
  /** Agrees to everything, and remembers what it was asked. */
  const agreeing = (asked: ElicitQuestion[]): Interact => ({
    elicit: async (question) => {
      asked.push(question);
      return { action: "accept" };
    },
  });

  it("is shown to the person, and the call goes on", async () => {
    const asked: ElicitQuestion[] = [];
    const script = legacy([[required("one", "two")]]);
    await using hub = await openHub({ it: fakeStdio(script) }, { interact: agreeing(asked) });
    expect((await hub.callTool("it.echo", { a: 1 })).structuredContent).toEqual({ a: 1 });
    expect(asked).toMatchObject([
      { mode: "url", server: "it", url: "https://login.example/one", elicitationId: "one" },
      { mode: "url", server: "it", url: "https://login.example/two", elicitationId: "two" },
    ]);
  });

  it("is asked about once, and the call waits until the server says that it is done", async () => {
    const asked: ElicitQuestion[] = [];
    const script = legacy([[required("one")], [required("one")]]);
    const done = { when: { tool: "add" }, do: [complete, { default: true as const }] };
    await using server = await openLogged({ ...script, on: [...(script.on ?? []), done] });
    await using hub = await openHub({ it: server.entry }, { interact: agreeing(asked) });
    const call = hub.callTool("it.echo", { a: 1 });
    const calls = () => server.heard().filter(({ params }) => params?.["name"] === "echo").length;
    await expect.poll(calls, { timeout: 20_000 }).toBe(2);
    await hub.callTool("it.add", { a: 1, b: 2 });
    expect((await call).structuredContent).toEqual({ a: 1 });
    expect(asked).toHaveLength(1);
    expect(calls()).toBe(3);
  });

  it("ends the question when the server says that it is done", async () => {
    const open = Promise.withResolvers<AbortSignal>();
    const interact: Interact = {
      elicit: async (_question, signal) => {
        open.resolve(signal);
        return new Promise(() => undefined);
      },
    };
    const done = { when: { tool: "add" }, do: [complete, { default: true as const }] };
    const script = legacy([[required("one")]]);
    const entry = fakeStdio({ ...script, on: [...(script.on ?? []), done] });
    await using hub = await openHub({ it: entry }, { interact });
    const call = hub.callTool("it.echo", { a: 1 });
    const signal = await open.promise;
    expect(hub.questions()).toHaveLength(1);
    await hub.callTool("it.add", { a: 1, b: 2 });
    expect((await call).structuredContent).toEqual({ a: 1 });
    expect(signal.aborted).toBe(true);
    expect(hub.questions()).toEqual([]);
  });

  it("ends the call if somebody declines, or nobody is there", async () => {
    const script = legacy([[required("one")], [required("one")]]);
    const declining: Interact = { elicit: async () => ({ action: "decline" }) };
    for (const interact of [declining, {}]) {
      await using hub = await openHub({ it: fakeStdio(script) }, { interact });
      const error = await failure(hub.callTool("it.echo"));
      expect(error).toMatchObject({ code: "question-declined", executed: "no", data: { rpcCode: -32_042 } });
      expect(error.message).toContain("Log in first");
    }
  });

  it("is a plain error where the server names no page, or is modern", async () => {
    const error = { code: -32_042, message: "No page", data: { elicitations: "none" } };
    const on = [{ when: { tool: "echo" }, do: [{ error }] }];
    const shown = [{ when: { tool: "echo" }, do: [required("one")] }];
    const servers = {
      none: fakeStdio({ versions: "legacy", on }),
      modern: fakeStdio({ versions: "modern", on: shown }),
    };
    await using hub = await openHub(servers, { interact: agreeing([]) });
    for (const server of ["none", "modern"])
      expect(await failure(hub.callTool(`${server}.echo`))).toMatchObject({ code: "server-error" });
  });

  it("is no longer waited for when the call is given up", async () => {
    const script: Script = { versions: "legacy", on: [{ when: { tool: "echo" }, do: [required("one")] }] };
    await using server = await openLogged(script);
    await using hub = await openHub({ it: server.entry }, { interact: agreeing([]) });
    const abort = new AbortController();
    const call = failure(hub.callTool("it.echo", {}, { signal: abort.signal }));
    const calls = () => server.heard().filter(({ method }) => method === "tools/call").length;
    await expect.poll(calls, { timeout: 20_000 }).toBe(2);
    abort.abort();
    expect(await call).toMatchObject({ code: "call-cancelled" });
  });
});

describe("M62 roots", () => {
  it("that changed are told to the legacy servers in use, and to nobody else", async () => {
    await using legacy = await openLogged({ versions: "legacy" });
    await using modern = await openLogged({ versions: "modern" });
    await using unused = await openLogged({ versions: "legacy" });
    const servers = { legacy: legacy.entry, modern: modern.entry, unused: unused.entry };
    await using hub = await openHub(servers, { interact: { roots: async () => [] } });
    await hub.connect("legacy");
    await hub.connect("modern");
    await hub.rootsChanged();
    await hub.view({ servers: ["modern"] }).rootsChanged();
    for (const server of ["legacy", "modern"]) await hub.callTool(`${server}.echo`);
    const told = (server: typeof legacy) =>
      server.heard().filter(({ method }) => method === "notifications/roots/list_changed").length;
    expect([told(legacy), told(modern), unused.starts()]).toEqual([1, 0, 0]);
    const hello = legacy.heard().find(({ method }) => method === "initialize");
    expect(hello?.params?.["capabilities"]).toMatchObject({ roots: { listChanged: true } });
  });

  it("are not told to a server that was never promised any", async () => {
    await using server = await openLogged({ versions: "legacy" });
    await using hub = await openHub({ it: server.entry });
    await hub.connect("it");
    await hub.rootsChanged();
    await hub.callTool("it.echo");
    expect(server.heard().map(({ method }) => method)).not.toContain("notifications/roots/list_changed");
  });
});

describe("M44 the longest time of a call", () => {
  const endless: Script = { on: [{ when: { tool: "echo" }, do: [{ progress: "forever", everyMs: 20 }] }] };

  it("counts below the usual time for an answer", async () => {
    await using hub = await openHub({ it: { ...fakeStdio(endless), maxCallTimeoutMs: 300 } });
    const error = await failure(hub.callTool("it.echo"));
    expect(error).toMatchObject({ code: "call-timeout", data: { maxTimeoutMs: 300 } });
    const own = await failure(hub.callTool("it.echo", {}, { timeoutMs: 60_000, maxTimeoutMs: 200 }));
    expect(own).toMatchObject({ code: "call-timeout", data: { maxTimeoutMs: 200 } });
  });
});

describe("M44 a call that is given up while its credentials are fetched", () => {
  it("is not sent", async () => {
    const tools = [{ name: "echo", inputSchema: object }];
    await using http = await openFake({ tools });
    let fetching: (() => void) | undefined;
    const slow = Promise.withResolvers<void>();
    const authProviders = {
      mine: {
        token: async () => {
          fetching?.();
          if (fetching) await slow.promise;
          return "x";
        },
      },
    };
    await using hub = await openHub({ it: { url: http.url, auth: "mine" } }, { authProviders });
    await hub.callTool("it.echo");
    const begun = new Promise<void>((resolve) => (fetching = resolve));
    const abort = new AbortController();
    const call = failure(hub.callTool("it.echo", { late: true }, { signal: abort.signal }));
    await begun;
    abort.abort();
    expect(await call).toMatchObject({ code: "call-cancelled" });
    slow.resolve();
    fetching = undefined;
    await hub.callTool("it.echo", { after: true });
    const sent = http.received.map(({ body }) => JSON.stringify(body ?? ""));
    expect(sent.some((body) => body.includes("late"))).toBe(false);
    expect(sent.some((body) => body.includes("after"))).toBe(true);
  });
});
