import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { TaskEntry } from "../../src/host.ts";
import type { ElicitQuestion, HubOptions, Interact } from "../../src/index.ts";
import { TaskRecords } from "../../src/calls/tasks/records.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { Interrupted } from "../../src/cli/terminal/signals.ts";
import { fakeStdio, readFakeLog } from "../fixtures/fake/index.ts";
import type { FakeHttp, Script } from "../fixtures/fake/index.ts";
import { createSandbox } from "../sandbox.ts";
import { failure, openFake, openFolder, openHub, openLogged } from "../servers/hub-fixture.ts";

const text = (value: string) => [{ type: "text", text: value }];
const modern: Script = { versions: "modern", tasks: {} };
const legacy: Script = { versions: ["2025-11-25"], tasks: {} };
const eras = [
  ["the extension", modern],
  ["2025-11-25", legacy],
] as const;

/** Says yes to everything, and remembers what it was asked. */
function agreeing(asked: ElicitQuestion[] = []): Interact {
  return {
    elicit: async (question) => {
      asked.push(question);
      return { action: "accept", content: { confirm: true, name: `answer ${asked.length}` } };
    },
  };
}

const methods = (fake: FakeHttp) => fake.received.map(({ message }) => message?.["method"]);
const count = (fake: FakeHttp, method: string) => methods(fake).filter((one) => one === method).length;

const turn = () => new Promise((resolve) => setTimeout(resolve, 5));

/** A hub with one HTTP server, called `it`. */
async function open(script: Script, options: HubOptions = {}, settings: object = {}) {
  const fake = await openFake(script);
  const hub = await openHub({ it: { url: fake.url, ...settings } }, options);
  return {
    fake,
    hub,
    async [Symbol.asyncDispose]() {
      await hub.close();
      await fake.close();
    },
  };
}

describe.each(eras)("M55 a call that becomes a task of %s", (_, script) => {
  it("returns its result over stdio and HTTP", async () => {
    await using fake = await openFake(script);
    await using hub = await openHub({ near: fakeStdio(script), far: { url: fake.url } });
    for (const server of ["near", "far"]) {
      expect(await hub.callTool(`${server}.failing_job`)).toMatchObject({
        content: text("The job failed"),
        isError: true,
      });
    }
    expect(await hub.tasks()).toEqual([]);
  });

  it("leaves plain tools plain", async () => {
    await using at = await open(script);
    expect(await at.hub.callTool("it.greet", { name: "Ada" })).toMatchObject({
      content: text("Hello, Ada!"),
    });
    expect(count(at.fake, "tasks/get")).toBe(0);
  });

  it("tells its status as progress, and of its id", async () => {
    await using at = await open(script);
    const steps: (string | undefined)[] = [];
    const tasks: TaskEntry[] = [];
    await at.hub.callTool(
      "it.failing_job",
      {},
      {
        onProgress: ({ message }) => steps.push(message),
        onTask: (task) => tasks.push(task),
      },
    );
    expect(steps).toEqual(["failing_job at work"]);
    expect(tasks).toMatchObject([{ server: "it", tool: "mcp__it__failing_job", status: "working" }]);
    expect(tasks[0]?.id).toMatch(/^t_[a-z2-7]{20}$/);
    expect(JSON.stringify(tasks)).not.toContain("taskId");
  });

  it("is cancelled by tasks/cancel when the caller gives it up, and not by a notification", async () => {
    await using at = await open(script);
    const stop = new AbortController();
    const calling = at.hub.callTool(
      "it.hold",
      { label: "a" },
      {
        signal: stop.signal,
        onTask: () => stop.abort(),
      },
    );
    expect(await failure(calling)).toMatchObject({ code: "call-cancelled", tool: "mcp__it__hold" });
    expect(count(at.fake, "tasks/cancel")).toBe(1);
    expect(methods(at.fake)).not.toContain("notifications/cancelled");
    expect(await at.hub.tasks()).toEqual([]);
  });

  it("is cancelled through the hub like any call", async () => {
    await using at = await open(script);
    const calling = at.hub.callTool(
      "it.hold",
      { label: "a" },
      {
        onProgress: () => at.hub.cancel(at.hub.calls()[0]?.call ?? ""),
      },
    );
    expect(await failure(calling)).toMatchObject({ code: "call-cancelled" });
    expect(count(at.fake, "tasks/cancel")).toBe(1);
  });

  it("fails when the server forgets it or talks nonsense", async () => {
    await using at = await open(script);
    const onTask = () =>
      at.fake.set({
        on: [{ when: { method: "tasks/get" }, do: [{ error: { code: -32_602, message: "gone" } }] }],
      });
    expect(await failure(at.hub.callTool("it.hold", { label: "a" }, { onTask }))).toMatchObject({
      code: "server-error",
      executed: "maybe",
      message: '"it" no longer knows the task of hold: gone (-32602).',
    });
    expect(await at.hub.tasks()).toEqual([]);
    const answer = { taskId: "another", status: "completed", ttl: 1, ttlMs: 1, result: { content: [] } };
    at.fake.set({ on: [{ when: { method: "tasks/get" }, do: [{ answer }] }] });
    expect(await failure(at.hub.callTool("it.hold", { label: "b" }))).toMatchObject({
      code: "protocol-error",
    });
  });

  it("ends at the longest time that somebody set, and tells the server", async () => {
    await using at = await open(script, {}, { maxCallTimeoutMs: 300 });
    expect(await failure(at.hub.callTool("it.hold", { label: "a" }))).toMatchObject({ code: "call-timeout" });
    expect(count(at.fake, "tasks/cancel")).toBe(1);
  });

  it("outlasts the silence that a call is allowed, while its server answers polls", async () => {
    await using at = await open(script, {}, { callTimeoutMs: 400 });
    const calling = at.hub.callTool("it.hold", { label: "a" });
    while (count(at.fake, "tasks/get") < 8) await turn();
    await at.hub.callTool("it.finish", { label: "a" });
    expect(await calling).toMatchObject({ content: text("held a") });
  });

  it("bears polls that fail for a while", async () => {
    await using at = await open({
      ...script,
      on: [
        { when: { method: "tasks/get", nth: 1 }, do: [{ drop: "reset" }] },
        { when: { method: "tasks/get", nth: 2 }, do: [{ error: { code: -32_603, message: "a moment" } }] },
      ],
    });
    expect(await at.hub.callTool("it.failing_job")).toMatchObject({ isError: true });
    expect(count(at.fake, "tools/call")).toBe(1);
  });

  it("asks people what it wants to know, each thing once", async () => {
    const asked: ElicitQuestion[] = [];
    await using at = await open(script, { interact: agreeing(asked) });
    const { hub } = at;
    const handle = async (id: string, args: Record<string, unknown>) => {
      const answer = await hub.forwardCall(id, { arguments: args }, { awaitTask: true });
      return "result" in answer ? answer.result["content"] : answer;
    };
    expect(await handle("it.confirm_delete", { filename: "a.txt" })).toEqual(text("deleted a.txt"));
    expect(await handle("it.multi_input", {})).toEqual(text("answer 2 and answer 3"));
    expect(asked.map(({ message }) => message)).toEqual(["Delete a.txt?", "One?", "Two?"]);
    expect(asked[0]).toMatchObject({ server: "it", kind: "elicit", mode: "form" });
  });

  it("is gone on with by another process, by its caller only", async () => {
    await using folder = await openFolder();
    const store = createMemoryStore({ now: Date.now });
    await using fake = await openFake({ ...script, tasks: { file: join(folder.path, "tasks") } });
    const servers = { it: { url: fake.url } };
    let id = "";
    {
      await using hub = await openHub(servers, { store });
      const started = new Promise<void>((resolve) => {
        hub
          .view({ caller: "ada" })
          .callTool("it.hold", { label: "long" }, { onTask: (task) => resolve(void (id = task.id)) })
          .catch(() => undefined);
      });
      await started;
    }
    await fake.restart();
    await using hub = await openHub(servers, { store });
    const ada = hub.view({ caller: "ada" });
    expect(await ada.tasks()).toMatchObject([{ id, server: "it", tool: "mcp__it__hold", status: "working" }]);
    for (const other of [hub, hub.view({ caller: "bob" })]) {
      expect(await other.tasks()).toEqual([]);
      expect(await failure(other.task(id))).toMatchObject({ code: "usage-invalid" });
    }
    const task = await ada.task(id);
    expect(await task.state()).toMatchObject({ status: "working" });
    await hub.callTool("it.finish", { label: "long" });
    expect(await task.result()).toMatchObject({ content: text("held long") });
    expect(await ada.tasks()).toEqual([]);
    expect(count(fake, "tasks/cancel")).toBe(0);
    expect(fake.received.filter(({ message }) => message?.["method"] === "tools/call")).toHaveLength(2);
  });

  it("can be cancelled by another process", async () => {
    const store = createMemoryStore({ now: Date.now });
    await using at = await open(script, { store });
    const running = failure(at.hub.callTool("it.hold", { label: "a" }));
    while ((await at.hub.tasks()).length === 0) await turn();
    await using other = await openHub({ it: { url: at.fake.url } }, { store });
    const [entry] = await other.tasks();
    await (await other.task(entry?.id ?? "")).cancel();
    expect(await other.tasks()).toEqual([]);
    expect(await running).toMatchObject({
      code: "server-error",
      message: expect.stringContaining("cancelled the task"),
    });
  });
});

describe("M55 tasks of the extension", () => {
  it("are declared with each request about them, and named in its header", async () => {
    await using at = await open(modern);
    await at.hub.callTool("it.failing_job");
    const about = at.fake.received.filter(({ message }) =>
      /^(tools\/call|tasks\/)/.test(String(message?.["method"])),
    );
    expect(about.length).toBeGreaterThan(1);
    for (const { message, headers } of about) {
      const params = message?.["params"] as Record<string, Record<string, unknown>>;
      const declared = params["_meta"]?.["io.modelcontextprotocol/clientCapabilities"];
      expect(declared).toMatchObject({ extensions: { "io.modelcontextprotocol/tasks": {} } });
      expect(headers["mcp-name"]).toBe(params["taskId"] ?? params["name"]);
    }
  });

  it("are not declared for anything else", async () => {
    await using at = await open(modern);
    await at.hub.tools();
    await at.hub.readResource("it", "fake://readme");
    expect(JSON.stringify(at.fake.received)).not.toContain("modelcontextprotocol/tasks");
  });

  it("come after the input that a call needs first", async () => {
    await using at = await open(modern, { interact: agreeing() });
    expect(await at.hub.callTool("it.test_tool_with_task")).toMatchObject({
      content: text("computed answer 1"),
    });
  });

  it("fail with the error of the call, without what is secret", async () => {
    await using at = await open(modern, {}, { headers: { "x-key": "very-secret-value" } });
    const failed = (taskId: string) => ({
      taskId,
      status: "failed",
      ttlMs: 1,
      error: { code: -32_603, message: "broke with very-secret-value" },
    });
    await at.hub.tools();
    const plain = await failure(at.hub.callTool("it.protocol_error_job"));
    expect(plain).toMatchObject({
      code: "server-error",
      data: { rpcCode: -32_603, rpcData: { why: "on purpose" } },
    });
    at.fake.set({
      on: [
        {
          when: { method: "tools/call" },
          do: [{ answer: { ...failed("one"), status: "working", resultType: "task" } }],
        },
        { when: { method: "tasks/get" }, do: [{ answer: failed("one") }] },
      ],
    });
    const error = await failure(at.hub.callTool("it.hold"));
    expect(error.message).toContain("broke with");
    expect(error.message).not.toContain("very-secret-value");
  });

  it("end when nobody can answer what they ask", async () => {
    await using at = await open(modern);
    expect(await failure(at.hub.callTool("it.confirm_delete", { filename: "a" }))).toMatchObject({
      code: "question-declined",
    });
    expect(count(at.fake, "tasks/cancel")).toBe(1);
  });

  it("are polled at the server's pace, which may change, and never faster than ten times a second", async () => {
    const state = { taskId: "one", ttlMs: null, status: "working" };
    const poll = (nth: number, answer: object) => ({
      when: { method: "tasks/get", nth },
      do: [{ answer: { ...state, ...answer } }],
    });
    await using at = await open({
      ...modern,
      on: [
        { when: { tool: "hold" }, do: [{ answer: { ...state, resultType: "task", pollIntervalMs: 1 } }] },
        poll(1, { pollIntervalMs: 1 }),
        poll(2, { pollIntervalMs: 300 }),
        poll(3, { status: "completed", result: { content: text("done") } }),
      ],
    });
    expect(await at.hub.callTool("it.hold")).toMatchObject({ content: text("done") });
    const polls = at.fake.received.filter(({ message }) => message?.["method"] === "tasks/get");
    const [one = 0, two = 0, three = 0] = polls.map(({ timeMs }) => timeMs);
    // A timer may be early by a fraction of a millisecond; how late it is depends on the machine.
    expect(two - one).toBeGreaterThan(98);
    expect(three - two).toBeGreaterThan(298);
  });

  it("are not accepted where a call has a connection of its own", async () => {
    await using log = await openLogged(modern);
    await using hub = await openHub({ it: { ...log.entry, isolation: "call" } });
    expect(await hub.callTool("it.slow_compute", { seconds: 0, label: "x" })).toMatchObject({
      content: text("computed x"),
    });
    expect(log.heard().some(({ method }) => method === "tasks/get")).toBe(false);
  });

  it("are a mistake in place of anything but a call", async () => {
    const answer = { resultType: "task", taskId: "t", status: "working", ttlMs: null };
    await using at = await open({
      ...modern,
      on: [{ when: { method: "resources/read" }, do: [{ answer }] }],
    });
    expect(await failure(at.hub.readResource("it", "fake://readme"))).toMatchObject({
      code: "protocol-error",
    });
  });
});

describe("M55 tasks of 2025-11-25", () => {
  it("are made only where a tool requires one", async () => {
    await using at = await open(legacy);
    await at.hub.callTool("it.slow_compute", { seconds: 0, label: "x" });
    expect(count(at.fake, "tasks/get")).toBe(0);
    await at.hub.callTool("it.failing_job");
    const calls = at.fake.received.filter(({ message }) => message?.["method"] === "tools/call");
    const isTask = calls.map(({ body }) => body.includes('"task":{"ttl"'));
    expect(isTask).toEqual([false, true]);
  });

  it("are not asked for at a server that declares none", async () => {
    await using at = await open({ ...legacy, capabilities: { tools: {} } });
    expect(await failure(at.hub.callTool("it.failing_job"))).toMatchObject({ data: { rpcCode: -32_601 } });
  });

  it("show no id of the server's in their results", async () => {
    await using at = await open(legacy);
    expect(await at.hub.callTool("it.failing_job")).not.toHaveProperty("_meta");
  });
});

describe("M55 a call that is passed on", () => {
  const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
  const result = async (answer: Promise<object>) => (await answer) as { result: Record<string, unknown> };

  it("hands a task out untouched to a caller that declares tasks", async () => {
    await using at = await open(modern);
    const { result: task } = await result(
      at.hub.forwardCall("it.hold", { arguments: { label: "a" } }, { capabilities }),
    );
    expect(task).toMatchObject({ resultType: "task", status: "working", pollIntervalMs: 100 });
    expect(count(at.fake, "tasks/get")).toBe(0);
  });

  it("makes no task for a caller that declares none", async () => {
    await using at = await open(modern);
    const params = { arguments: { seconds: 0, label: "x" } };
    const { result: plain } = await result(at.hub.forwardCall("it.slow_compute", params));
    expect(plain).toMatchObject({ resultType: "complete", content: text("computed x") });
  });

  it.each(eras)("waits in the caller's place for a task of %s", async (_, script) => {
    await using at = await open(script);
    for (const raw of [true, undefined]) {
      const { result: final } = await result(
        at.hub.forwardCall("it.failing_job", {}, { awaitTask: true, raw }),
      );
      expect(final).toMatchObject({ content: text("The job failed"), isError: true });
      expect(final).not.toHaveProperty("taskId");
    }
  });

  it.each(eras)("keeps a task of %s for whoever takes it", async (_, script) => {
    await using at = await open(script);
    const tasks: TaskEntry[] = [];
    const params = { arguments: { seconds: 0, label: "x" } };
    await at.hub.forwardCall("it.slow_compute", params, { onTask: (task) => tasks.push(task) });
    const task = await at.hub.task(tasks[0]?.id ?? "");
    // Without types it is no way around the rules of calls either.
    const call = task.request("tools/call" as "tasks/get", { name: "echo" });
    expect(await failure(call)).toMatchObject({ code: "usage-invalid" });
    expect(await result(task.answer())).toMatchObject({ result: { content: text("computed x") } });
  });
});

describe("M55 plugboard call", () => {
  it("shows the status of a task, and cancels it on Ctrl-C", async () => {
    const box = createSandbox();
    const log = box.path("log");
    const entry = fakeStdio({ ...modern, log });
    box.write("home/.config/plugboard/config.json", { mcpServers: { it: entry } });
    const interrupt = new AbortController();
    const run = await box.cli(["call", "it.hold", "label=a"], {
      signal: interrupt.signal,
      screen: { columns: 80, rows: 24 },
      onErr: (shown) => {
        if (shown.includes("hold at work")) interrupt.abort(new Interrupted("SIGINT"));
      },
    });
    expect(run.code).toBe(130);
    expect(run.err).toContain("Cancelled. The server was notified.");
    const heard = readFakeLog(log).flatMap((line) => (line.event === "received" ? [line.line] : []));
    expect(heard.filter((line) => line.includes('"tasks/cancel"'))).toHaveLength(1);
  });
});

describe("M55 tasks that are kept", () => {
  const state = (taskId: string) => ({ taskId, status: "working" as const, ttlMs: null });
  const about = {
    server: "it",
    tool: "mcp__it__t",
    name: "t",
    protocol: "extension" as const,
    shared: true,
    from: "",
  };

  it("expire with their server's promise, and after a week at the latest", async () => {
    let now = 1_000_000;
    const records = new TaskRecords(createMemoryStore({ now: () => now }), () => now);
    const short = await records.add("ada", { ...state("one"), ttlMs: 120_000 }, about);
    const long = await records.add("ada", state("two"), about);
    now += 121_000;
    expect(await records.get("ada", short.id)).toBeUndefined();
    expect(await records.list("ada")).toMatchObject([{ id: long.id }]);
    now += 7 * 86_400_000;
    expect(await records.list("ada")).toEqual([]);
  });

  it("are the newest 200 of a caller, and of no use to others", async () => {
    let now = 1_000_000;
    const records = new TaskRecords(createMemoryStore({ now: () => now }), () => now);
    const first = await records.add("ada", state("first"), about);
    const other = await records.add("bob", state("other"), about);
    for (let at = 0; at < 200; at++) {
      now++;
      await records.add("ada", state(`task-${at}`), about);
    }
    expect(await records.list("ada")).toHaveLength(200);
    expect(await records.get("ada", first.id)).toBeUndefined();
    expect(await records.get("bob", other.id)).toMatchObject({ taskId: "other" });
    expect(await records.get("ada", other.id)).toBeUndefined();
    expect(await records.get("ada", "../bob")).toBeUndefined();
  });
});
