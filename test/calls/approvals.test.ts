import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createHub, isPlugboardError } from "../../src/index.ts";
import type { QuestionAnswered, Store } from "../../src/host.ts";
import type { Approval, ApproveQuestion, ConfigLiteral, Hub, HubOptions, Interact } from "../../src/index.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { ListServer, hubOf, object } from "../catalog/list-server.ts";
import { createSandbox } from "../sandbox.ts";

const tools = (...more: object[]) => [{ name: "t", inputSchema: object, ...Object.assign({}, ...more) }];

/** A store on disk, which several hubs can share like several processes do. */
async function stored(path = join(createSandbox().root, "state.sqlite")): Promise<Store> {
  const store = await openSqliteStore({ path }, () => undefined);
  onTestFinished(() => store.close());
  return store;
}

interface Asked {
  hub: Hub;
  server: ListServer;
  /** The questions so far. */
  asked: ApproveQuestion[];
  answered: QuestionAnswered[];
}

/** A hub whose config says `prompt`, and a person who gives these answers in turn, then refuses. */
async function asking(
  answers: (Approval | undefined)[],
  options: HubOptions & { server?: ListServer; approval?: ConfigLiteral["approval"] } = {},
): Promise<Asked> {
  const { server = new ListServer({ tools: tools() }), approval = "prompt", ...rest } = options;
  const asked: ApproveQuestion[] = [];
  const answered: QuestionAnswered[] = [];
  const interact = {
    approve: async (question: ApproveQuestion) => {
      asked.push(question);
      return answers.length > 0 ? answers.shift() : { decision: "deny" };
    },
  } as unknown as Interact;
  const hub = await hubOf({ it: server.entry }, { interact, ...rest }, { approval });
  hub.on("question-answered", (event) => answered.push(event));
  return { hub, server, asked, answered };
}

const once: Approval = { decision: "allow" };
const session: Approval = { decision: "allow", remember: "session" };
const always: Approval = { decision: "allow", remember: "always" };

describe("M60 answers to questions about calls", () => {
  it("allow one call, and the next one is asked about again", async () => {
    const { hub, asked, answered } = await asking([once, once]);
    await hub.callTool("it.t");
    await hub.callTool("it.t");
    expect(asked).toHaveLength(2);
    expect(answered).toMatchObject([{ outcome: "accepted", decision: "allow" }, { decision: "allow" }]);
    expect(answered[0]).not.toHaveProperty("remembered");
  });

  it("hold for the session of one caller, with any arguments, and end with the hub", async () => {
    const store = await stored();
    const server = new ListServer({ tools: tools() });
    const { hub, asked, answered } = await asking([session, session], { store, server });
    const ann = hub.view({ caller: "ann" });
    await ann.callTool("it.t", { a: 1 });
    await ann.forwardCall("mcp__it__t", { arguments: { a: 2 } });
    await hub.view({ caller: "ann" }).callTool("it.t", { a: 3 });
    expect(asked).toHaveLength(1);
    expect(answered).toMatchObject([{ decision: "allow", remembered: "session" }]);
    await hub.view({ caller: "bob" }).callTool("it.t");
    await expect(hub.callTool("it.t")).rejects.toMatchObject({ code: "approval-denied" });
    expect(asked).toHaveLength(3);
    expect(await hub.approvals.list()).toMatchObject([
      { remembered: "session", caller: "ann", server: "it", tool: "t" },
      { remembered: "session", caller: "bob" },
    ]);
    await hub.close();
    const next = await asking([], { store, server });
    await expect(next.hub.view({ caller: "ann" }).callTool("it.t")).rejects.toMatchObject({
      code: "approval-denied",
    });
  });

  it("hold always, in other processes too, for one caller only", async () => {
    const path = join(createSandbox().root, "state.sqlite");
    const server = new ListServer({ tools: tools() });
    const { hub, answered } = await asking([always], { store: await stored(path), server });
    await hub.view({ caller: "ann" }).callTool("it.t");
    expect(answered).toMatchObject([{ decision: "allow", remembered: "always" }]);
    const other = await asking([], { store: await stored(path), server });
    await other.hub.view({ caller: "ann" }).callTool("it.t", { any: "thing" });
    expect(other.asked).toEqual([]);
    await expect(other.hub.view({ caller: "bob" }).callTool("it.t")).rejects.toMatchObject({
      code: "approval-denied",
    });
    await expect(other.hub.callTool("it.t")).rejects.toMatchObject({ code: "approval-denied" });
  });

  it("are shown with what remembering them would cover, and the rule that asks", async () => {
    const { hub, asked } = await asking([once], { store: await stored() });
    await hub.view({ caller: "ann" }).callTool("it.t", { path: "a" });
    expect(asked).toMatchObject([
      {
        server: "it",
        tool: "t",
        arguments: { path: "a" },
        because: "the configuration requires approval",
        rule: { path: "approval", scope: "override" },
        remember: {
          session: 't of "it" with any arguments, called by "ann", until this program ends',
          always:
            't of "it" with any arguments, called by "ann", until you revoke it or the server or the tool changes',
        },
      },
    ]);
  });

  it("cancel the turn: the error says so, and nothing is sent", async () => {
    const { hub, server, answered } = await asking([{ decision: "cancel", reason: "wrong file" }]);
    const error: unknown = await hub.callTool("it.t").catch((caught: unknown) => caught);
    expect(error).toMatchObject({
      code: "call-cancelled",
      endsTurn: true,
      executed: "no",
      retryable: false,
      data: { reason: "turn-cancelled" },
      message: 'The call of t on "it" was cancelled: wrong file.',
    });
    expect(server.count("tools/call")).toBe(0);
    expect(answered).toMatchObject([{ outcome: "cancelled", decision: "cancel" }]);
    expect(hub.calls()).toMatchObject([{ outcome: "cancelled" }]);
    const other = await hub.callTool("it.none").catch((caught: unknown) => caught);
    expect(isPlugboardError(other) && other.endsTurn).toBe(false);
  });

  it.each([
    ["nothing", undefined],
    ["a word", "allow"],
    ["an unknown decision", { decision: "maybe" }],
    ["an unknown duration", { decision: "allow", remember: "forever" }],
    ["a refusal to be remembered", { decision: "deny", remember: "always" }],
  ])("of another shape are an error that says what to return: %s", async (_, answer) => {
    const { hub, server } = await asking([answer as never]);
    await expect(hub.callTool("it.t")).rejects.toMatchObject({
      code: "usage-invalid",
      executed: "no",
      hint: expect.stringContaining("interact.approve") as string,
    });
    expect(server.count("tools/call")).toBe(0);
  });

  it("can be given through the hub as well, and a wrong one leaves the question open", async () => {
    const { promise: never } = Promise.withResolvers<Approval>();
    const interact = { approve: () => never };
    const server = new ListServer({ tools: tools() });
    const hub = await hubOf(
      { it: server.entry },
      { interact, store: await stored() },
      { approval: "prompt" },
    );
    const calling = hub.callTool("it.t");
    const question = await new Promise<string>((resolve) => {
      hub.on("question-asked", (event) => resolve(event.question));
    });
    expect(() => hub.answer(question, { decision: "allow", remember: "ever" })).toThrow("not a valid answer");
    hub.answer(question, always);
    await calling;
    expect(await hub.approvals.list()).toMatchObject([{ remembered: "always" }]);
  });

  it("for the session end the other questions that they cover", async () => {
    const waiting: ((answer: Approval) => void)[] = [];
    const interact = {
      approve: (_: ApproveQuestion, signal: AbortSignal) =>
        new Promise<Approval>((resolve) => {
          waiting.push(resolve);
          signal.addEventListener("abort", () => resolve({ decision: "deny" }));
        }),
    };
    const server = new ListServer({ tools: tools() });
    const hub = await hubOf({ it: server.entry }, { interact }, { approval: "prompt" });
    await hub.tools();
    const calls = [hub.callTool("it.t"), hub.callTool("it.t"), hub.callTool("it.t")];
    while (waiting.length < 3) await new Promise((resolve) => setImmediate(resolve));
    waiting[1]?.(session);
    await Promise.all(calls);
    expect(hub.questions()).toEqual([]);
    expect(server.count("tools/call")).toBe(3);
  });
});

describe("M60 remembered answers", () => {
  it("are forgotten when the definition of the tool changes, and the question says so", async () => {
    const { hub, server, asked } = await asking([always, once, always], { store: await stored() });
    await hub.callTool("it.t");
    server.tools = tools({ description: "Does something else now." });
    server.changed("tools");
    await new Promise((resolve) => setImmediate(resolve));
    await hub.callTool("it.t");
    expect(asked).toHaveLength(2);
    expect(asked[1]?.forgotten).toMatch(
      /^it was allowed always on \d{4}-\d\d-\d\d, but the definition of the tool has changed since$/,
    );
    await hub.callTool("it.t");
    await hub.callTool("it.t");
    expect(asked).toHaveLength(3);
    expect(await hub.approvals.list()).toHaveLength(1);
  });

  it("are forgotten when the definition changes in another session, before anything is sent", async () => {
    const { hub, server, asked } = await asking([always], { store: await stored() });
    await hub.callTool("it.t");
    server.tools = tools({ inputSchema: { type: "object", properties: { a: {} } } });
    await server.drop();
    await expect(hub.callTool("mcp__it__t")).rejects.toMatchObject({ code: "approval-denied" });
    expect(asked).toHaveLength(2);
    expect(server.count("tools/call")).toBe(1);
  });

  it("are forgotten when the annotations or the server's entry are changed in the configuration", async () => {
    const store = await stored();
    const server = new ListServer({ tools: tools() });
    const entry = { ...server.entry, approval: "prompt" as const };
    const { hub, asked } = await asking([always], { store, server });
    await hub.reload({ servers: { it: entry } });
    await hub.callTool("it.t");
    await hub.reload({ servers: { it: { ...entry, callTimeoutMs: 1_000 } } });
    await hub.callTool("it.t");
    expect(asked).toHaveLength(1);
    await hub.reload({
      servers: { it: { ...entry, tools: { annotations: { t: { readOnlyHint: true } } } } },
    });
    await expect(hub.callTool("it.t")).rejects.toMatchObject({ code: "approval-denied" });
    await hub.reload({ servers: { it: { ...entry, env: { OTHER: "1" } } } });
    await expect(hub.callTool("it.t")).rejects.toMatchObject({ code: "approval-denied" });
    expect(asked.at(-1)?.forgotten).toContain("but the configuration of the server has changed since");
    expect(await hub.approvals.list()).toMatchObject([
      { stale: "the configuration of the server has changed since" },
    ]);
  });

  it("never override a denial, of the configuration or a hidden tool", async () => {
    const { hub, server } = await asking([always], { store: await stored() });
    await hub.callTool("it.t");
    await hub.reload({ servers: { it: server.entry }, approval: "deny" });
    await expect(hub.callTool("it.t")).rejects.toMatchObject({ code: "approval-denied" });
    await hub.reload({ servers: { it: { ...server.entry, tools: { deny: ["t"] } } }, approval: "prompt" });
    await expect(hub.callTool("it.t")).rejects.toMatchObject({ code: "tool-hidden" });
  });

  it("cover the conditions of the rule that asked, and no others", async () => {
    const approval = {
      default: "prompt" as const,
      rules: [{ when: { "/path": "/etc/*" }, mode: "prompt" as const }],
    };
    const { hub, asked } = await asking([always, always], { store: await stored(), approval });
    await hub.callTool("it.t", { path: "a" });
    await hub.callTool("it.t", { path: "b" });
    expect(asked).toHaveLength(1);
    await hub.callTool("it.t", { path: "/etc/hosts" });
    await hub.callTool("it.t", { path: "/etc/passwd" });
    expect(asked).toHaveLength(2);
    expect(asked[1]).toMatchObject({
      because: "the configuration requires approval where /path matches /etc/*",
      rule: { path: "approval.rules[0]" },
      remember: { always: expect.stringContaining("with arguments where /path matches /etc/*") as string },
    });
    // Both may have been answered in the same millisecond, by which they are sorted.
    const conditions = (await hub.approvals.list()).map(({ when }) => when);
    expect(conditions).toHaveLength(2);
    expect(conditions).toEqual(expect.arrayContaining([undefined, [{ "/path": "/etc/*" }]]));
  });

  it("are revoked by id, by server or all at once, and an unknown id is an error", async () => {
    const { hub, asked } = await asking([always, session, always], { store: await stored() });
    await hub.callTool("it.t");
    await hub.view({ caller: "ann" }).callTool("it.t");
    const [first] = await hub.approvals.list();
    expect(await hub.approvals.revoke({ id: first?.id ?? "" })).toMatchObject([{ id: first?.id }]);
    await expect(hub.approvals.revoke({ id: first?.id ?? "" })).rejects.toMatchObject({
      code: "usage-invalid",
    });
    await hub.callTool("it.t");
    expect(asked).toHaveLength(3);
    expect(await hub.approvals.revoke({ server: "other" })).toEqual([]);
    expect(await hub.approvals.revoke({ server: "it" })).toHaveLength(2);
    expect(await hub.approvals.revoke({ all: true })).toEqual([]);
    await expect(hub.view({ caller: "ann" }).callTool("it.t")).rejects.toMatchObject({
      code: "approval-denied",
    });
  });

  it("are no longer used a second after another process has revoked them", async () => {
    const path = join(createSandbox().root, "state.sqlite");
    let now = Date.now();
    const { hub, asked, server } = await asking([always], { store: await stored(path), clock: () => now });
    await hub.callTool("it.t");
    const other = await createHub({ servers: { it: server.entry } }, { store: await stored(path) });
    onTestFinished(() => other.close());
    expect(await other.approvals.revoke({ all: true })).toHaveLength(1);
    now += 1_001;
    await expect(hub.callTool("it.t")).rejects.toMatchObject({ code: "approval-denied" });
    expect(asked).toHaveLength(2);
  });

  it("hold for the session where they cannot be stored, and the event says why", async () => {
    const broken = Object.assign(createMemoryStore(), {
      durable: true,
      set: () => Promise.reject(new Error("the disk is read-only")),
    });
    const { hub, asked, answered } = await asking([always], { store: broken });
    await hub.callTool("it.t");
    await hub.callTool("it.t");
    expect(asked).toHaveLength(1);
    expect(answered).toMatchObject([
      {
        decision: "allow",
        remembered: "session",
        notKept: "it could not be stored (the disk is read-only)",
      },
    ]);
  });

  it("are asked for again where they cannot be read, and the question says why", async () => {
    const broken = Object.assign(createMemoryStore(), {
      durable: true,
      list: () => Promise.reject(new Error("the disk is gone")),
    });
    const { hub, asked } = await asking([once], { store: broken });
    await hub.callTool("it.t");
    expect(asked[0]?.forgotten).toBe("remembered answers cannot be read (the disk is gone)");
    await expect(hub.approvals.list()).rejects.toThrow("the disk is gone");
  });

  it("are not offered for longer than the program lasts without a durable store", async () => {
    const { hub, asked, answered } = await asking([always]);
    await hub.callTool("it.t");
    expect(asked[0]?.remember).not.toHaveProperty("always");
    expect(answered).toMatchObject([{ remembered: "session", notKept: expect.any(String) as string }]);
  });

  it("are limited in number: the oldest is asked about again", async () => {
    const server = new ListServer({ tools: tools() });
    const interact = { approve: async () => session };
    let asked = 0;
    const hub = await hubOf({ it: server.entry }, { interact }, { approval: "prompt" });
    hub.on("question-asked", () => asked++);
    for (let caller = 0; caller <= 1_000; caller++) await hub.view({ caller: `c${caller}` }).callTool("it.t");
    expect(await hub.approvals.list()).toHaveLength(1_000);
    await hub.view({ caller: "c1000" }).callTool("it.t");
    expect(asked).toBe(1_001);
    await hub.view({ caller: "c0" }).callTool("it.t");
    expect(asked).toBe(1_002);
  });

  it("do not come from a store that a project names", async () => {
    const box = createSandbox();
    const state = await stored();
    const { hub } = await asking([always], {
      store: await stored(join(box.root, "theirs")),
      approvals: async () => state,
    });
    await hub.callTool("it.t");
    expect(await state.list("approval/")).toHaveLength(1);
  });
});

describe("M61 the managed policy", () => {
  const managed = (approval: object) => ({
    folders: createSandbox({ "managed/managed.json": { approval } }).folders,
  });

  it("asks although the user approves, and its answers are remembered for the session only", async () => {
    const store = await stored();
    const server = new ListServer({ tools: tools() });
    const policy = managed({ tools: { t: "prompt" } });
    const { hub, asked, answered } = await asking([always], {
      store,
      server,
      approval: "approve",
      ...policy,
    });
    await hub.callTool("it.t");
    await hub.callTool("it.t");
    expect(asked).toMatchObject([
      {
        because: "the managed policy requires approval",
        rule: {
          path: "approval.tools.t",
          scope: "managed",
          file: expect.stringContaining("managed.json") as string,
          line: 4,
        },
      },
    ]);
    expect(asked[0]?.remember).not.toHaveProperty("always");
    expect(answered).toMatchObject([
      { remembered: "session", notKept: "the managed policy requires the question in every session" },
    ]);
    expect(await store.list("approval/")).toEqual([]);
  });

  it("is not satisfied by what the user answered before", async () => {
    const store = await stored();
    const server = new ListServer({ tools: tools() });
    const before = await asking([always], { store, server });
    await before.hub.callTool("it.t");
    const { hub } = await asking([], { store, server, ...managed({ default: "prompt" }) });
    await expect(hub.callTool("it.t")).rejects.toMatchObject({ code: "approval-denied" });
    const lasting = await asking([], {
      store,
      server,
      ...managed({ default: "prompt", remember: "always" }),
    });
    await lasting.hub.callTool("it.t");
  });

  it("can forbid remembering altogether", async () => {
    const policy = managed({ rules: [{ tools: "t", mode: "prompt", remember: "never" }] });
    const { hub, asked, answered } = await asking([session, once], policy);
    await hub.callTool("it.t");
    await hub.callTool("it.t");
    expect(asked).toMatchObject([{ remember: {} }, { remember: {} }]);
    expect(answered[0]).toMatchObject({ notKept: "the managed policy requires the question every time" });
  });

  it("goes by the server's own annotations, not by the user's corrections, and not by an untrusted server's", async () => {
    const server = new ListServer({ tools: tools({ annotations: { destructiveHint: true } }) });
    const corrected = { ...server.entry, tools: { annotations: { t: { readOnlyHint: true } } } };
    const policy = managed({ default: "auto" });
    const asked: string[] = [];
    const interact = {
      approve: async ({ because }: ApproveQuestion) => {
        asked.push(because);
        return once;
      },
    };
    const hub = await hubOf({ it: corrected }, { interact, ...policy });
    await hub.callTool("it.t");
    expect(asked).toEqual(["it may change something"]);
    const harmless = new ListServer({ tools: tools({ annotations: { readOnlyHint: true } }) });
    await hub.reload({ servers: { it: harmless.entry } });
    await hub.callTool("it.t");
    expect(asked).toHaveLength(1);
    await hub.reload({
      servers: {
        it: {
          ...harmless.entry,
          untrusted: true,
          tools: { allow: ["t"], annotations: { t: { readOnlyHint: true } } },
        },
      },
    });
    await hub.callTool("it.t");
    expect(asked).toHaveLength(2);
  });

  it("denies at every door, with the rule in the error", async () => {
    const policy = managed({ rules: [{ when: { "/path": "/etc/*" }, mode: "deny" }] });
    const { hub, server } = await asking([], { approval: "approve", ...policy });
    await hub.callTool("it.t", { path: "/tmp/x" });
    const denied = {
      code: "approval-denied",
      message: 'The call of t on "it" was not approved: the managed policy denies it.',
      data: { rule: "approval.rules[0]", line: 4 },
    };
    await expect(hub.callTool("it.t", { path: "/etc/x" })).rejects.toMatchObject(denied);
    await expect(hub.forwardCall("it.t", { arguments: { path: ["/etc/x"] } })).rejects.toMatchObject(denied);
    expect(server.count("tools/call")).toBe(1);
  });
});

describe("M60 conditions at the time of the call", () => {
  it("are judged on what is sent, defaults of the configuration included, and nobody can change it afterwards", async () => {
    const approval = {
      default: "approve" as const,
      rules: [{ when: { "/path": "/etc/*" }, mode: "deny" as const }],
    };
    const server = new ListServer({ tools: tools() });
    const sent: unknown[] = [];
    server.answers.set("tools/call", ({ arguments: args }) => {
      sent.push(args);
      return { content: [] };
    });
    const hub = await hubOf(
      { it: { ...server.entry, tools: { defaults: { t: { path: "/etc/x" } } } } },
      {},
      { approval },
    );
    await expect(hub.callTool("it.t", {})).rejects.toMatchObject({ code: "approval-denied" });
    const args = { path: "a" };
    const calling = hub.callTool("mcp__it__t", args);
    args.path = "/etc/x";
    await calling;
    let reads = 0;
    const shifty = {
      get path() {
        return reads++ === 0 ? "a" : "/etc/x";
      },
    };
    await hub.callTool("mcp__it__t", shifty).catch(() => undefined);
    expect(sent.every((one) => (one as { path: string }).path === "a")).toBe(true);
    const { approval: explained } = await hub.explainTool("it.t");
    expect(explained).toMatchObject({
      mode: "approve",
      outcome: "approved",
      conditions: [{ rule: "approval.rules[0]", mode: "deny", when: { "/path": "/etc/*" } }],
    });
  });

  it("are explained together with the answers that count", async () => {
    const { hub } = await asking([always], { store: await stored() });
    await hub.callTool("it.t");
    expect((await hub.explainTool("it.t")).approval).toMatchObject({
      mode: "prompt",
      outcome: "approved",
      because: expect.stringMatching(/^an earlier answer allows it \(a_[0-9a-f]{16}\)$/) as string,
      remembered: [{ remembered: "always", covers: 't of "it" with any arguments' }],
    });
    await hub.approvals.revoke({ all: true });
    expect((await hub.explainTool("it.t")).approval).toMatchObject({
      outcome: "asked",
      because: "the configuration requires approval",
      remembered: [],
    });
  });
});
