import { describe, expect, it, onTestFinished } from "vitest";
import { createHub } from "../../src/index.ts";
import type { ConfigLiteral, ElicitAnswer, HubOptions, Interact, PlugboardEvent } from "../../src/index.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { fakeStdio, startFakeHttp } from "../fixtures/fake/index.ts";
import type { Script } from "../fixtures/fake/index.ts";

async function hubOf(
  servers: ConfigLiteral["servers"],
  options: HubOptions = {},
  rest: Partial<ConfigLiteral> = {},
) {
  const hub = await createHub({ servers, ...rest }, options);
  onTestFinished(() => hub.close());
  return hub;
}

const both = ["legacy", "modern"] as const;
const object = { type: "object" };

describe.each(both)("M44 a call on a %s server", (versions) => {
  it("returns the server's own result and emits events for each step", async () => {
    const hub = await hubOf({ it: fakeStdio({ versions }) });
    const events: PlugboardEvent[] = [];
    for (const type of ["call-start", "call-progress", "call-end"] as const)
      hub.on(type, (event) => events.push(event));
    const result = await hub.callTool("mcp__it__echo", { a: 1 });
    expect(result).toMatchObject({
      content: [{ type: "text", text: '{"a":1}' }],
      structuredContent: { a: 1 },
    });
    expect(events.map(({ type }) => type)).toEqual(["call-start", "call-end"]);
    expect(events[1]).toMatchObject({ server: "it", tool: "mcp__it__echo", outcome: "ok" });
    const failed = await hub.callTool("it.fail");
    expect(failed.isError).toBe(true);
    expect(events.at(-1)).toMatchObject({ outcome: "tool-error" });
  });

  it("reports progress without a progress listener", async () => {
    const hub = await hubOf({ it: fakeStdio({ versions }) });
    const steps: number[] = [];
    hub.on("call-progress", ({ progress }) => steps.push(progress));
    await hub.callTool("it.progress", { steps: 3 });
    expect(steps.length).toBeGreaterThan(0);
  });

  it("cancels on the server and ignores the late answer", async () => {
    const hub = await hubOf({ it: fakeStdio({ versions }) });
    await hub.callTool("it.echo");
    const abort = new AbortController();
    const call = hub.callTool("it.sleep", { ms: 60_000 }, { signal: abort.signal });
    await expect.poll(() => hub.status()[0]?.counts.requests, { timeout: 20_000 }).toBe(3);
    abort.abort();
    await expect(call).rejects.toMatchObject({ code: "call-cancelled" });
    const { structuredContent } = await hub.callTool("it.cancelled");
    expect(JSON.stringify(structuredContent)).toContain("p");
  });

  it("answers the server's requests for form input, a model and the roots", async () => {
    const asked: string[] = [];
    const hub = await hubOf(
      { it: fakeStdio({ versions }) },
      {
        interact: {
          elicit: async (question) => {
            asked.push(`${question.kind} ${question.server}`);
            return { action: "accept" };
          },
          sample: async () => ({ role: "assistant", model: "m", content: { type: "text", text: "sampled" } }),
          roots: async () => [{ uri: "file:///here", name: "here" }],
        },
      },
    );
    const schema = { type: "object", properties: { colour: { type: "string", default: "green" } } };
    expect(JSON.stringify(await hub.callTool("it.elicit", { schema }))).toContain("green");
    expect(asked).toEqual(["elicit it"]);
    expect(JSON.stringify(await hub.callTool("it.sample"))).toContain("sampled");
    expect(JSON.stringify(await hub.callTool("it.roots"))).toContain("file:///here");
  });

  it("sends exactly the content of an answer, and the defaults only if there is none", async () => {
    const answers: ElicitAnswer[] = [{ action: "accept", content: { a: "x" } }, { action: "accept" }];
    const interact = { elicit: async () => answers.shift() ?? { action: "cancel" as const } };
    const hub = await hubOf({ it: fakeStdio({ versions }) }, { interact });
    const properties = { a: { type: "string" }, b: { type: "string", default: "y" } };
    const ask = async () => {
      const { structuredContent } = await hub.callTool("it.elicit", {
        schema: { type: "object", properties },
      });
      return structuredContent;
    };
    expect(await ask()).toEqual({ answers: [{ action: "accept", content: { a: "x" } }] });
    expect(await ask()).toEqual({ answers: [{ action: "accept", content: { b: "y" } }] });
  });

  it("fails the call of whoever answers a form wrongly, and sends nothing of that answer", async () => {
    const interact: Interact = {
      elicit: async () => ({ action: "accept", content: { name: 7, extra: "abc" } }),
    };
    const fake = await startFakeHttp({ versions });
    onTestFinished(() => fake.close());
    const hub = await hubOf({ it: { url: fake.url } }, { interact });
    await expect(hub.callTool("it.elicit")).rejects.toMatchObject({
      code: "usage-invalid",
      server: "it",
      message: expect.stringMatching(/name.*string/) as string,
    });
    expect(JSON.stringify(fake.received)).not.toContain("abc");
  });

  it("lets a wrong answer through the hub be given again", async () => {
    const interact: Interact = { elicit: () => new Promise(() => undefined) };
    const hub = await hubOf({ it: fakeStdio({ versions }) }, { interact });
    const call = hub.callTool("it.elicit");
    await expect.poll(() => hub.questions().length, { timeout: 20_000 }).toBe(1);
    const [{ id } = { id: "" }] = hub.questions();
    expect(() => hub.answer(id, { action: "accept", content: {} })).toThrow(/name/);
    expect(() => hub.answer(id, { action: "agree" })).toThrow(/shape/);
    hub.answer(id, { action: "accept", content: { name: "Ada" } });
    expect(JSON.stringify(await call)).toContain("Ada");
  });

  it("declines if there is nobody to ask or the configuration says so", async () => {
    const interact = { elicit: async () => ({ action: "accept" as const, content: {} }) };
    const hub = await hubOf({ it: { ...fakeStdio({ versions }), elicitation: "decline" } }, { interact });
    expect(JSON.stringify(await hub.callTool("it.elicit"))).toContain("decline");
  });
});

describe("M43 arguments and results are checked", () => {
  const tool = {
    name: "typed",
    inputSchema: {
      type: "object",
      properties: { count: { type: "integer" }, tags: { type: "array", items: { type: "string" } } },
      required: ["count"],
      additionalProperties: false,
    },
  };

  it("reports the path, the expected and the actual value, and sends nothing", async () => {
    const http = await startFakeHttp({ tools: [tool] });
    onTestFinished(() => http.close());
    const hub = await hubOf({ it: { url: http.url } });
    const failure = hub.callTool("it.typed", { count: "many", tgas: [] });
    await expect(failure).rejects.toMatchObject({
      code: "arguments-invalid",
      data: { mistakes: expect.arrayContaining([expect.objectContaining({ path: "count" })]) },
    });
    expect(http.received.some(({ body }) => JSON.stringify(body).includes("tools/call"))).toBe(false);
  });

  it("repairs JSON in strings if there is only one reading, and says so", async () => {
    const hub = await hubOf({ it: fakeStdio({ tools: [{ ...tool, name: "echo" }] }) });
    const result = await hub.callTool("it.echo", { count: "3", tags: '["a"]' });
    expect(result.structuredContent).toEqual({ count: 3, tags: ["a"] });
    expect(result._meta?.["plugboard/arguments"]).toHaveLength(2);
  });

  it("adds a note to a result that does not match its schema, or rejects it if configured", async () => {
    const script: Script = {
      tools: [
        {
          name: "echo",
          inputSchema: object,
          outputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
        },
      ],
    };
    const hub = await hubOf({
      strict: { ...fakeStdio(script), output: { check: "error" } },
      loose: fakeStdio(script),
    });
    await expect(hub.callTool("strict.echo", { n: "x" })).rejects.toMatchObject({ code: "output-invalid" });
    expect((await hub.callTool("loose.echo", { n: "x" }))._meta?.["plugboard/output-mistakes"]).toHaveLength(
      1,
    );
    expect((await hub.callTool("strict.echo", { n: 1 })).structuredContent).toEqual({ n: 1 });
  });

  it("sets a hostile tool aside and offers the others", async () => {
    const deep = JSON.parse(`${'{"properties":{"a":'.repeat(200)}{}${"}}".repeat(200)}`) as object;
    const tools = [
      { name: "good", inputSchema: object },
      { name: "deep", inputSchema: { type: "object", ...deep } },
      {
        name: "remote",
        inputSchema: { type: "object", properties: { a: { $ref: "https://evil.example/schema" } } },
      },
      { name: "none" },
    ];
    const hub = await hubOf({ it: fakeStdio({ tools }) });
    expect((await hub.tools()).map(({ name }) => name)).toEqual(["good"]);
    const aside = (await hub.allTools()).filter(({ status }) => status === "set-aside");
    expect(aside.map(({ name }) => name).sort()).toEqual(["deep", "none", "remote"]);
    await expect(hub.callTool("it.deep")).rejects.toMatchObject({
      code: "tool-hidden",
      message: expect.stringContaining("schema"),
    });
  });

  it("says when the schema has changed since it was listed", async () => {
    const changed = { name: "echo", inputSchema: { type: "object", required: ["now"] } };
    const hub = await hubOf({
      it: fakeStdio({
        tools: [{ name: "echo", inputSchema: object }],
        on: [
          {
            when: { tool: "echo" },
            do: [{ set: { tools: [changed] } }, { error: { code: -32602, message: "now is missing" } }],
          },
        ],
      }),
    });
    await expect(hub.callTool("it.echo", {})).rejects.toMatchObject({
      code: "arguments-invalid",
      message: expect.stringContaining("schema has changed"),
    });
  });
});

describe("M42 filters apply to calls too", () => {
  it("refuses hidden tools by name, with the reason", async () => {
    const hub = await hubOf({ it: { ...fakeStdio({}), tools: { allow: ["e*"], deny: ["elicit"] } } });
    expect((await hub.tools()).map(({ name }) => name)).toEqual(["echo"]);
    await expect(hub.callTool("mcp__it__add", { a: 1, b: 2 })).rejects.toMatchObject({
      code: "tool-hidden",
      message: expect.stringContaining("`tools.allow` does not list it"),
    });
    await expect(hub.callTool("it.elicit")).rejects.toMatchObject({
      code: "tool-hidden",
      message: expect.stringContaining("`tools.deny` hides it"),
    });
    await expect(hub.callTool("it.nope")).rejects.toMatchObject({ code: "tool-unknown" });
    await expect(hub.callTool("it.ecko")).rejects.toMatchObject({ hint: expect.stringContaining("it.echo") });
  });

  it("lets bundles and views only narrow what is visible", async () => {
    const hub = await hubOf(
      { a: fakeStdio({}), b: { ...fakeStdio({}), untrusted: true } },
      {},
      { bundles: { some: { servers: ["a", "b"], tools: { allow: ["echo", "add"], deny: ["add"] } } } },
    );
    expect((await hub.view({ bundle: "some" }).tools()).map(({ id }) => id)).toEqual([
      "mcp__a__echo",
      "mcp__b__echo",
    ]);
    expect((await hub.tools()).some(({ server }) => server === "b")).toBe(false);
    await expect(
      hub
        .view({ servers: ["a"] })
        .view({ servers: ["b"] })
        .callTool("b.echo"),
    ).rejects.toMatchObject({ code: "tool-unknown" });
    await expect(hub.view({ bundle: "some" }).callTool("mcp__a__add", { a: 1, b: 1 })).rejects.toMatchObject({
      code: "tool-hidden",
    });
  });

  it("renames and corrects annotations", async () => {
    const hub = await hubOf({
      it: {
        ...fakeStdio({}),
        tools: { rename: { echo: "say" }, annotations: { "e*": { readOnlyHint: true } } },
      },
    });
    const say = (await hub.tools()).find(({ id }) => id === "mcp__it__say");
    expect(say).toMatchObject({ name: "echo", annotations: { readOnlyHint: true } });
    expect((await hub.callTool("mcp__it__say", { x: 1 })).structuredContent).toEqual({ x: 1 });
  });
});

describe("M60 the approval stage", () => {
  const tools = [
    { name: "read", inputSchema: object, annotations: { readOnlyHint: true } },
    { name: "echo", inputSchema: object },
  ];

  it("allows, asks or denies as configured, and denies if there is nobody to ask", async () => {
    const questions: string[] = [];
    const interact = {
      approve: async ({ server, tool, because }: { server: string; tool: string; because: string }) => {
        questions.push(`${server} ${tool} ${because}`);
        return { decision: questions.length > 1 ? ("deny" as const) : ("allow" as const) };
      },
    };
    const entry = {
      ...fakeStdio({ tools }),
      approval: { default: "auto" as const, tools: { "re*": "deny" as const } },
    };
    const hub = await hubOf({ it: entry }, { interact });
    await hub.callTool("it.echo");
    await expect(hub.callTool("it.echo")).rejects.toMatchObject({ code: "approval-denied" });
    await expect(hub.callTool("it.read")).rejects.toMatchObject({
      message: expect.stringContaining("the configuration denies it"),
    });
    expect(questions[0]).toBe("it echo it may change something");
    const alone = await hubOf({ it: { ...fakeStdio({ tools }), approval: "prompt" } });
    await expect(alone.callTool("it.read")).rejects.toMatchObject({
      message: expect.stringContaining("nobody is there to ask"),
    });
    const silent = await hubOf({ it: fakeStdio({ tools }) });
    await silent.callTool("it.echo");
    await expect(silent.callTool("it.echo", {}, { approval: "auto" })).rejects.toMatchObject({
      code: "approval-denied",
    });
  });
});

describe("M44 retries", () => {
  const crashOnce = (annotations: object, name = "echo"): Script => ({
    tools: [
      { name, inputSchema: object, annotations },
      { name: "count", inputSchema: object },
    ],
    on: [{ when: { tool: name, nth: 1 }, do: [{ drop: "reset" }] }],
  });

  it("repeats a failed read-only call once, and never one that may have changed something", async () => {
    const harmless = await startFakeHttp(crashOnce({ readOnlyHint: true }));
    const harmful = await startFakeHttp(crashOnce({}));
    onTestFinished(() => Promise.all([harmless.close(), harmful.close()]).then(() => undefined));
    const hub = await hubOf({ safe: { url: harmless.url }, risky: { url: harmful.url } });
    expect((await hub.callTool("safe.echo", { a: 1 })).structuredContent).toEqual({ a: 1 });
    await expect(hub.callTool("risky.echo", { a: 1 })).rejects.toMatchObject({ code: "connection-lost" });
    const calls = harmful.received.filter(({ body }) => JSON.stringify(body ?? "").includes("tools/call"));
    expect(calls).toHaveLength(1);
    expect((await hub.callTool("risky.echo", { a: 2 })).structuredContent).toEqual({ a: 2 });
  });
});

describe("M45 output limits", () => {
  it("cuts long results and stores the whole result under a handle", async () => {
    const hub = await hubOf(
      { it: { ...fakeStdio({}), output: { maxTokens: 200, warnTokens: 100 } } },
      { store: createMemoryStore() },
    );
    const result = await hub.callTool("it.big", { bytes: 200_000 });
    const text = JSON.stringify(result);
    expect(text.length).toBeLessThan(5_000);
    const handle = /r_[a-z0-9]+/.exec(text)?.[0] ?? "";
    const page = await hub.result(handle);
    expect(JSON.stringify(page).length).toBeGreaterThan(1_000);
    await expect(hub.view({ caller: "other" }).result(handle)).rejects.toMatchObject({
      code: "usage-invalid",
    });
    const whole = await hub.callTool("it.big", { bytes: 200_000 }, { whole: true });
    expect(JSON.stringify(whole).length).toBeGreaterThan(200_000);
  });
});

describe("M42 a view cannot be bypassed", () => {
  it("by any method", async () => {
    const hub = await hubOf(
      { a: fakeStdio({}), b: fakeStdio({}) },
      {},
      { bundles: { some: { servers: ["a"], tools: { allow: ["echo"] } } } },
    );
    const view = hub.view({ bundle: "some" });
    await expect(view.readResource("b", "x://y")).rejects.toMatchObject({ code: "server-unknown" });
    const passed = (id: string) => view.forwardCall(id, { arguments: {} });
    await expect(passed("b.echo")).rejects.toMatchObject({ code: "tool-unknown" });
    await expect(passed("mcp__b__echo")).rejects.toMatchObject({ code: "tool-unknown" });
    await expect(passed("a.add")).rejects.toMatchObject({ code: "tool-hidden" });
    expect(await passed("a.echo")).toHaveProperty("result");
    for (const door of [hub, view])
      await expect(door.request("tools/call", { name: "echo" }, { server: "a" })).rejects.toMatchObject({
        code: "usage-invalid",
      });
    const nested = hub.view({ tools: ["echo"] }).view({ tools: ["*"] });
    expect(new Set((await nested.tools()).map(({ name }) => name))).toEqual(new Set(["echo"]));
    expect(() => view.view({ bundle: "other" })).toThrow("already narrowed");
  });

  it("by anything but an explicit approval", async () => {
    const interact = { approve: async () => ({ decision: "yes" }) as never };
    const hub = await hubOf({ it: { ...fakeStdio({}), approval: "prompt" } }, { interact });
    await expect(hub.callTool("it.echo")).rejects.toMatchObject({ code: "usage-invalid" });
  });
});

describe("M44 error text is not evidence of a lost session", () => {
  it("passes on a tool error that mentions a session, and does not repeat the call", async () => {
    const error = { code: -32001, message: "Payment made, but the checkout session timed out" };
    const http = await startFakeHttp({
      versions: "legacy",
      sessions: true,
      on: [{ when: { tool: "echo" }, do: [{ error }] }],
    });
    onTestFinished(() => http.close());
    const hub = await hubOf({ it: { url: http.url } });
    await expect(hub.callTool("it.echo")).rejects.toMatchObject({
      code: "server-error",
      message: expect.stringContaining("checkout session"),
    });
    expect(
      http.received.filter(({ body }) => JSON.stringify(body ?? "").includes("tools/call")),
    ).toHaveLength(1);
  });
});

describe("M74 echoed credentials", () => {
  it("are hidden wherever the server repeats them", async () => {
    const canary = "canary-5f2a9c";
    const http = await startFakeHttp({
      on: [
        {
          when: { http: "POST" },
          do: [{ http: { status: 403, body: `bad credentials: Bearer ${canary}` } }],
        },
      ],
    });
    onTestFinished(() => http.close());
    const shell = (script: string) => ({
      command: "sh",
      args: ["-c", script],
      env: { API_TOKEN: canary },
      startupTimeoutMs: 1_500,
    });
    const hub = await hubOf({
      web: { url: http.url, headers: { Authorization: `Bearer ${canary}` } },
      slow: shell("echo token $API_TOKEN >&2; echo banner $API_TOKEN; sleep 60"),
      dies: shell("echo token $API_TOKEN >&2; exit 3"),
    });
    const events: unknown[] = [];
    hub.on("connection-changed", (event) => events.push(event));
    const failures = await Promise.allSettled(
      ["web", "slow", "dies"].map((server) => hub.request("ping", {}, { server })),
    );
    const seen = JSON.stringify([
      hub.status(),
      events,
      failures.map((one) => (one.status === "rejected" ? [String(one.reason), one.reason] : one)),
    ]);
    expect(seen).toContain("(hidden)");
    expect(seen).not.toContain(canary);
  });
});
