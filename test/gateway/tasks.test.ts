import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it } from "vitest";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import type { Script } from "../fixtures/fake/index.ts";
import { openFake } from "../servers/hub-fixture.ts";
import type { ClientOptions, Fields, TestClient } from "./clients/client.ts";
import { HttpWire } from "./clients/http-wire.ts";
import { openClient } from "./clients/open-client.ts";
import { openPipe } from "./open-pipe.ts";

const tasks = { extensions: { "io.modelcontextprotocol/tasks": {} } };
const elicitation = { elicitation: {} };
const accepted = { action: "accept", content: { confirm: true, name: "Ada" } };
const text = (value: string) => [{ type: "text", text: value }];
const modern: Script = { versions: "modern", tasks: {} };
const legacy: Script = { versions: ["2025-11-25"], tasks: {} };
const servers = [
  ["the extension", modern],
  ["2025-11-25", legacy],
] as const;
/** Short, so that a slow call becomes a task; and long enough for a server to make one of its own. */
const limits = { taskAfterMs: 100 };
const patient = { taskAfterMs: 5_000 };

const turn = () => new Promise((resolve) => setTimeout(resolve, 10));
const get = (client: TestClient, taskId: unknown) => client.result(client.once("tasks/get", { taskId }));

/** Asks until the task is in a status. */
async function until(client: TestClient, taskId: unknown, ...statuses: string[]): Promise<Fields> {
  for (;;) {
    const task = await get(client, taskId);
    if (statuses.includes(String(task["status"]))) return task;
    if (["completed", "failed", "cancelled"].includes(String(task["status"])))
      throw new Error(`the task is over: ${JSON.stringify(task)}`);
    await turn();
  }
}

const asTask = (client: TestClient, name: string, args: Fields = {}) =>
  client.once("tools/call", { name, arguments: args, task: { ttl: 60_000 } });

describe.each(servers)("M55 a modern client with tasks before a server with tasks of %s", (_, script) => {
  const open = async (options: ClientOptions = {}) => {
    const served = await openPipe({ it: fakeStdio(script) }, { limits: patient });
    return {
      served,
      client: await served.connect("modern", { capabilities: { ...tasks, ...elicitation }, ...options }),
    };
  };

  it("gets a task with an id of ours, and its result inside of its state", async () => {
    const { served, client } = await open();
    await using _served = served;
    const task = await client.result(client.once("tools/call", { name: "it__failing_job", arguments: {} }));
    expect(task).toMatchObject({ resultType: "task", status: "working", ttlMs: expect.any(Number) });
    expect(task).not.toHaveProperty("task");
    expect(task["taskId"]).toMatch(/^t_[a-z2-7]{20}$/);
    const done = await until(client, task["taskId"], "completed");
    expect(done).toMatchObject({
      resultType: "complete",
      taskId: task["taskId"],
      result: { content: text("The job failed"), isError: true },
    });
    expect(JSON.stringify(done)).not.toContain("related-task");
  });

  it("gets the error of a call inside of a failed task", async () => {
    const { served, client } = await open();
    await using _served = served;
    const { taskId } = await client.result(client.call("it__protocol_error_job"));
    expect(await until(client, taskId, "failed")).toMatchObject({
      error: { code: -32_603, message: "The job broke" },
    });
  });

  it("answers what the task wants to know", async () => {
    const { served, client } = await open();
    await using _served = served;
    const { taskId } = await client.result(client.call("it__confirm_delete", { filename: "a.txt" }));
    const { inputRequests } = await until(client, taskId, "input_required");
    const [key = ""] = Object.keys(inputRequests as Fields);
    expect((inputRequests as Record<string, Fields>)[key]).toMatchObject({
      method: "elicitation/create",
      params: { message: "Delete a.txt?" },
    });
    const update = (inputResponses: Fields) => client.once("tasks/update", { taskId, inputResponses });
    expect(await client.result(update({ unknown: accepted }))).toEqual({ resultType: "complete" });
    expect(await get(client, taskId)).toMatchObject({ status: "input_required" });
    expect(await update({ [key]: { action: "accept", content: { confirm: "maybe" } } }).answer).toMatchObject(
      {
        error: { code: -32_602, message: expect.stringContaining("does not match its form") as string },
      },
    );
    expect(await get(client, taskId)).toMatchObject({ status: "input_required" });
    expect(await client.result(update({ [key]: accepted }))).toEqual({ resultType: "complete" });
    expect(await until(client, taskId, "completed")).toMatchObject({
      result: { content: text("deleted a.txt") },
    });
  });

  it("cancels it, once and for all", async () => {
    const { served, client } = await open();
    await using _served = served;
    const { taskId } = await client.result(client.call("it__hold", { label: "a" }));
    const cancel = () => client.result(client.once("tasks/cancel", { taskId }));
    expect(await cancel()).toEqual({ resultType: "complete" });
    expect(await until(client, taskId, "cancelled")).not.toHaveProperty("result");
    expect(await cancel()).toEqual({ resultType: "complete" });
    expect(await client.result(client.call("it__finish", { label: "a" }))).toMatchObject({
      content: text("finished 0"),
    });
  });

  it("gets plain results of plain tools, whatever an old task parameter says", async () => {
    const { served, client } = await open();
    await using _served = served;
    const params = { name: "it__greet", arguments: { name: "Ada" }, task: { ttl: 1 } };
    const result = await client.result(client.once("tools/call", params));
    expect(result).toMatchObject({ resultType: "complete", content: text("Hello, Ada!") });
  });

  it("is asked for input before there is a task", async () => {
    const { served, client } = await open({ answer: () => accepted });
    await using _served = served;
    const params = { name: "it__test_tool_with_task", arguments: {} };
    const { resultType, inputRequests, requestState } = await client.result(
      client.once("tools/call", params),
    );
    expect(resultType).toBe("input_required");
    const inputResponses = Object.fromEntries(
      Object.keys(inputRequests as Fields).map((key) => [key, accepted]),
    );
    const task = await client.result(client.once("tools/call", { ...params, inputResponses, requestState }));
    expect(task).toMatchObject({ resultType: "task" });
    expect(task).not.toHaveProperty("requestState");
    expect(await until(client, task["taskId"], "completed")).toMatchObject({
      result: { content: text("computed Ada") },
    });
  });

  it("is refused the methods that the extension does not have", async () => {
    const { served, client } = await open();
    await using _served = served;
    for (const method of ["tasks/list", "tasks/result"])
      expect(await client.once(method, { taskId: "x" }).answer).toMatchObject({ error: { code: -32_601 } });
    for (const method of ["tasks/get", "tasks/cancel", "tasks/update"])
      for (const taskId of ["x", "t_aaaaaaaaaaaaaaaaaaaa", 1])
        expect(await client.once(method, { taskId, inputResponses: {} }).answer).toMatchObject({
          error: { code: -32_602 },
        });
  });
});

describe("M55 a modern client with tasks", () => {
  it("sees all inputs of a modern server's task at once, and answers them one by one", async () => {
    await using served = await openPipe({ it: fakeStdio(modern) });
    const client = await served.connect("modern", { capabilities: { ...tasks, ...elicitation } });
    const { taskId } = await client.result(client.call("it__multi_input"));
    expect(Object.keys((await until(client, taskId, "input_required"))["inputRequests"] as Fields)).toEqual([
      "one",
      "two",
    ]);
    await client.result(client.once("tasks/update", { taskId, inputResponses: { one: accepted } }));
    expect(Object.keys((await get(client, taskId))["inputRequests"] as Fields)).toEqual(["two"]);
    await client.result(client.once("tasks/update", { taskId, inputResponses: { two: accepted } }));
    await until(client, taskId, "completed");
  });

  it("gets a slow call of a server without tasks as a task, questions included", async () => {
    const script: Script = {
      versions: "legacy",
      on: [
        {
          when: { tool: "echo" },
          do: [
            { waitFor: { tool: "add" } },
            {
              request: {
                method: "elicitation/create",
                params: { message: "Go on?", requestedSchema: { type: "object" } },
              },
            },
            { answer: { content: text("went on") } },
          ],
        },
      ],
    };
    await using fake = await openFake(script);
    await using served = await openPipe({ it: { url: fake.url } }, { limits });
    const client = await served.connect("modern", { capabilities: { ...tasks, ...elicitation } });
    const task = await client.result(client.call("it__echo"));
    expect(task).toMatchObject({ resultType: "task", status: "working" });
    expect(await get(client, task["taskId"])).toMatchObject({ status: "working" });
    await client.result(client.call("it__add", { a: 1, b: 2 }));
    const { inputRequests } = await until(client, task["taskId"], "input_required");
    const inputResponses = Object.fromEntries(
      Object.keys(inputRequests as Fields).map((key) => [key, accepted]),
    );
    await client.result(client.once("tasks/update", { taskId: task["taskId"], inputResponses }));
    expect(await until(client, task["taskId"], "completed")).toMatchObject({
      result: { content: text("went on") },
    });
  });

  it("goes on with a parked call that takes long as a task", async () => {
    const ask = {
      method: "elicitation/create",
      params: { message: "Go on?", requestedSchema: { type: "object" } },
    };
    const script: Script = {
      versions: "legacy",
      on: [
        {
          when: { tool: "echo" },
          do: [{ request: ask }, { waitFor: { tool: "add" } }, { answer: { content: text("done") } }],
        },
      ],
    };
    await using fake = await openFake(script);
    await using served = await openPipe({ it: { url: fake.url } }, { limits });
    const client = await served.connect("modern", {
      capabilities: { ...tasks, ...elicitation },
      answer: () => accepted,
    });
    const { resultType, taskId } = await client.result(client.call("it__echo"));
    expect(resultType).toBe("task");
    expect(client.questions()).toHaveLength(1);
    await client.result(client.call("it__add", { a: 1, b: 2 }));
    expect(await until(client, taskId, "completed")).toMatchObject({ result: { content: text("done") } });
  });

  it("cancels a slow call by its task, and the server is told", async () => {
    await using fake = await openFake({ versions: "legacy" });
    await using served = await openPipe({ it: { url: fake.url } }, { limits });
    const client = await served.connect("modern", { capabilities: tasks });
    const { taskId } = await client.result(client.call("it__sleep", { ms: 60_000 }));
    await client.result(client.once("tasks/cancel", { taskId }));
    expect(await get(client, taskId)).toMatchObject({ status: "cancelled" });
    while (!fake.received.some(({ message }) => message?.["method"] === "notifications/cancelled"))
      await turn();
  });

  it("is told of tasks in the gateway's own capabilities", async () => {
    await using served = await openPipe({ it: fakeStdio({}) });
    expect((await served.connect("modern")).server["capabilities"]).toMatchObject(tasks);
    const legacyClient = await served.connect("legacy");
    expect(legacyClient.server["capabilities"]).toMatchObject({
      tasks: { requests: { tools: { call: {} } } },
    });
    const older = await served.connect("legacy", { revision: "2025-06-18" });
    expect(older.server["capabilities"]).not.toHaveProperty("tasks");
    expect(await older.once("tasks/list").answer).toMatchObject({ error: { code: -32_601 } });
  });
});

describe.each(servers)("M55 a client without tasks before a server with tasks of %s", (_, script) => {
  it("never gets one: the gateway waits in its place", async () => {
    await using served = await openPipe({ it: fakeStdio(script) }, { limits });
    for (const era of ["modern", "legacy"] as const) {
      const client = await served.connect(era, { capabilities: elicitation, answer: () => accepted });
      const slow = await client.result(client.call("it__slow_compute", { seconds: 0.3, label: "x" }));
      expect(slow).toMatchObject({ content: text("computed x") });
      const asked = await client.result(client.call("it__confirm_delete", { filename: "a" }));
      expect(asked).toMatchObject({ content: text("deleted a") });
      expect(client.questions()).toHaveLength(1);
      expect(client.seen.filter(({ text: line }) => line.includes("taskId"))).toEqual([]);
    }
    const old = await served.connect("legacy");
    expect(await old.result(old.call("it__failing_job"))).toMatchObject({ isError: true });
  });

  it("is told what to declare where a tool can only be called as a task, if it can", async () => {
    await using served = await openPipe({ it: fakeStdio(script) });
    const client = await served.connect("modern");
    const refused = { error: { code: -32_021, data: { requiredCapabilities: tasks } } };
    expect(await client.call("it__failing_job").answer).toMatchObject(refused);
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"])
      expect(await client.once(method, { taskId: "x", inputResponses: {} }).answer).toMatchObject(refused);
    expect(
      await client.once("subscriptions/listen", { notifications: { taskIds: ["x"] } }).answer,
    ).toMatchObject(refused);
  });
});

describe.each([...servers, ["no kind", { versions: "both" }]] as const)(
  "M55 a client of 2025-11-25 that asks for a task before a server with tasks of %s",
  (kind, script) => {
    const tool = kind === "no kind" ? "it__sleep" : "it__slow_compute";
    const args = kind === "no kind" ? { ms: 50 } : { seconds: 0.05, label: "x" };

    it("gets one of the older protocol", async () => {
      await using served = await openPipe({ it: fakeStdio(script) });
      const client = await served.connect("legacy");
      const { task } = (await client.result(asTask(client, tool, args))) as { task: Fields };
      expect(task).toMatchObject({
        status: "working",
        ttl: expect.any(Number),
        pollInterval: expect.any(Number),
      });
      const result = await client.result(client.once("tasks/result", { taskId: task["taskId"] }));
      expect(result).toMatchObject({
        content: expect.any(Array),
        _meta: { "io.modelcontextprotocol/related-task": { taskId: task["taskId"] } },
      });
      expect(result).not.toHaveProperty("resultType");
      expect(await get(client, task["taskId"])).toMatchObject({ status: "completed" });
      expect(await client.result(client.once("tasks/list"))).toMatchObject({
        tasks: [{ taskId: task["taskId"] }],
      });
      const again = client.once("tasks/cancel", { taskId: task["taskId"] });
      expect(await again.answer).toMatchObject({ error: { code: -32_602 } });
    });

    it("is asked on the stream of its result", async () => {
      await using served = await openPipe({ it: fakeStdio(script) });
      const client = await served.connect("legacy", { capabilities: elicitation, answer: () => accepted });
      const asking = kind === "no kind" ? "it__elicit" : "it__confirm_delete";
      const { task } = (await client.result(asTask(client, asking, { filename: "a" }))) as { task: Fields };
      expect(await until(client, task["taskId"], "input_required")).not.toHaveProperty("inputRequests");
      expect(client.questions()).toEqual([]);
      const result = await client.result(client.once("tasks/result", { taskId: task["taskId"] }));
      expect(JSON.stringify(result)).toContain(kind === "no kind" ? "Ada" : "deleted a");
      expect(client.questions()).toMatchObject([
        { params: { _meta: { "io.modelcontextprotocol/related-task": { taskId: task["taskId"] } } } },
      ]);
    });

    it("cancels it", async () => {
      await using served = await openPipe({ it: fakeStdio(script) });
      const client = await served.connect("legacy");
      const [name, long] = kind === "no kind" ? ["it__sleep", { ms: 60_000 }] : ["it__hold", { label: "a" }];
      const { task } = (await client.result(asTask(client, name, long))) as { task: Fields };
      const { taskId } = task;
      expect(await client.result(client.once("tasks/cancel", { taskId }))).toMatchObject({
        taskId,
        status: "cancelled",
      });
      expect(await client.once("tasks/result", { taskId }).answer).toHaveProperty("error");
    });

    it("is no longer asked when the task is cancelled", async () => {
      await using served = await openPipe({ it: fakeStdio(script) });
      const answer = () => new Promise<never>(() => undefined);
      const client = await served.connect("legacy", { capabilities: elicitation, answer });
      const asking = kind === "no kind" ? "it__elicit" : "it__confirm_delete";
      const { task } = (await client.result(asTask(client, asking, { filename: "a" }))) as { task: Fields };
      const { taskId } = task;
      const waiting = client.once("tasks/result", { taskId });
      const { id } = await client.sees("the question", (seen) => seen.kind === "question");
      await client.result(client.once("tasks/cancel", { taskId }));
      expect(await waiting.answer).toMatchObject({ error: { message: "The task was cancelled." } });
      expect(client.notifications("notifications/cancelled")).toMatchObject([{ params: { requestId: id } }]);
    });
  },
);

/** A gateway over HTTP whose callers are named by a header. */
async function serveHttp(url: string, store = createMemoryStore({ now: Date.now })) {
  const pipe = await openPipe(
    { it: { url } },
    { hub: { store }, limits: patient, authenticate: ({ headers }) => headers.get("x-caller") ?? undefined },
  );
  const { url: at } = await pipe.gateway.listen();
  return {
    connect: (caller: string, era: "modern" | "legacy" = "modern") =>
      openClient(era, new HttpWire({ url: at, headers: { "x-caller": caller } }), { capabilities: tasks }),
    [Symbol.asyncDispose]: async () => {
      await pipe.gateway.close({ drainMs: 0 });
      await pipe[Symbol.asyncDispose]();
    },
  };
}

describe.each(servers)("M55 tasks of %s behind a gateway", (_, script) => {
  it("are worth nothing to another caller", async () => {
    await using fake = await openFake(script);
    await using served = await serveHttp(fake.url);
    const [ada, bob, old] = [
      await served.connect("ada"),
      await served.connect("bob"),
      await served.connect("bob", "legacy"),
    ];
    const { taskId } = await ada.result(ada.call("it__hold", { label: "a" }));
    for (const client of [bob, old])
      for (const method of [
        "tasks/get",
        "tasks/cancel",
        client.era === "modern" ? "tasks/update" : "tasks/result",
      ])
        expect(await client.once(method, { taskId, inputResponses: {} }).answer).toMatchObject({
          error: { code: -32_602 },
        });
    expect(await old.result(old.once("tasks/list"))).toEqual({ tasks: [] });
    expect(await get(ada, taskId)).toMatchObject({ status: "working" });
    await bob.result(bob.call("it__finish", { label: "a" }));
    expect(await until(ada, taskId, "completed")).toMatchObject({ result: { content: text("held a") } });
  });

  it("survive a restart of the gateway and its clients, for clients of both protocols", async () => {
    await using fake = await openFake(script);
    const store = createMemoryStore({ now: Date.now });
    const left: Record<string, unknown> = {};
    {
      await using served = await serveHttp(fake.url, store);
      const client = await served.connect("ada");
      left["modern"] = (await client.result(client.call("it__hold", { label: "long" })))["taskId"];
      const old = await served.connect("ada", "legacy");
      const { task } = (await old.result(asTask(old, "it__hold", { label: "long" }))) as { task: Fields };
      left["legacy"] = task["taskId"];
    }
    expect(fake.received.some(({ message }) => message?.["method"] === "tasks/cancel")).toBe(false);
    await using served = await serveHttp(fake.url, store);
    const old = await served.connect("ada", "legacy");
    const listed = (await old.result(old.once("tasks/list"))) as { tasks: Fields[] };
    expect(new Set(listed.tasks.map(({ taskId }) => taskId))).toEqual(new Set(Object.values(left)));
    const client = await served.connect("ada");
    expect(await get(client, left["modern"])).toMatchObject({ status: "working" });
    await client.result(client.call("it__finish", { label: "long" }));
    expect(await until(client, left["modern"], "completed")).toMatchObject({
      result: { content: text("held long") },
    });
    const result = await old.result(old.once("tasks/result", { taskId: left["legacy"] }));
    expect(result).toMatchObject({ content: text("held long") });
  });
});

describe("M55 the end of a gateway", () => {
  it("ends the calls that became tasks of its own, and leaves those of servers alone", async () => {
    await using fake = await openFake({ versions: "legacy" });
    const pipe = await openPipe({ it: { url: fake.url } }, { limits });
    const client = await pipe.connect("modern", { capabilities: tasks });
    await client.result(client.call("it__sleep", { ms: 60_000 }));
    await pipe[Symbol.asyncDispose]();
    expect(fake.received.some(({ message }) => message?.["method"] === "notifications/cancelled")).toBe(true);
  });
});

describe.each(servers)("M55 the client of SDK 1 before a server with tasks of %s", (_, script) => {
  it("gets a task, is asked during it, and gets its result", async () => {
    await using served = await openPipe({ it: fakeStdio(script) }, { token: "secret" });
    const { url } = await served.gateway.listen();
    const client = new Client({ name: "sdk", version: "1" }, { capabilities: elicitation });
    client.setRequestHandler(ElicitRequestSchema, async () => ({
      action: "accept",
      content: { confirm: true },
    }));
    const headers = { authorization: "Bearer secret" };
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
    const call = { name: "it__confirm_delete", arguments: { filename: "a" } };
    const messages = client.experimental.tasks.callToolStream(call, CallToolResultSchema, {
      task: { ttl: 60_000 },
    });
    const seen: { type: string; result?: unknown }[] = [];
    for await (const message of messages) seen.push(message);
    await client.close();
    expect(seen[0]).toMatchObject({ type: "taskCreated" });
    expect(seen.at(-1)).toMatchObject({ type: "result", result: { content: text("deleted a") } });
  });
});

describe("M55 the result of a task", () => {
  it("has links that work, and its status is progress where the gateway waits", async () => {
    const state = { taskId: "one", ttlMs: null, pollIntervalMs: 1 };
    const link = { type: "resource_link", uri: "fake://item/linked", name: "linked" };
    const made = { ...state, status: "working", statusMessage: "half way", resultType: "task" };
    const done = { ...state, status: "completed", result: { content: [link] } };
    const script: Script = {
      ...modern,
      resourceTemplates: [],
      on: [
        { when: { tool: "slow_compute" }, do: [{ answer: made }] },
        { when: { method: "tasks/get" }, do: [{ answer: done }] },
      ],
    };
    const plain: Script = { versions: "modern", resourceTemplates: [] };
    await using served = await openPipe(
      { it: fakeStdio(script), other: fakeStdio(plain) },
      { limits: patient },
    );
    const client = await served.connect("modern", { capabilities: tasks });
    const { taskId } = await client.result(client.call("it__slow_compute"));
    expect(await get(client, taskId)).toMatchObject({ status: "completed", result: { content: [link] } });
    const read = await client.result(client.request("resources/read", { uri: link.uri }));
    expect(read).toMatchObject({ contents: [{ uri: link.uri }] });
    const waiting = await served.connect("legacy");
    await waiting.result(waiting.call("it__slow_compute", {}, { progressToken: "mine" }));
    expect(waiting.notifications("notifications/progress")).toMatchObject([
      { params: { progressToken: "mine", progress: 1, message: "half way" } },
      { params: { progress: 2, message: "completed" } },
    ]);
  });
});

describe("M55 a hundred tasks of one caller", () => {
  it("are the most: the next is refused and cancelled, until one of them is over", async () => {
    await using fake = await openFake(legacy);
    await using served = await openPipe({ it: { url: fake.url } }, { limits: patient });
    const client = await served.connect("modern", { capabilities: tasks });
    const hold = () => client.call("it__hold", { label: "a" }).answer;
    const made = await Promise.all(Array.from({ length: 100 }, hold));
    expect(made.every(({ result }) => result?.["resultType"] === "task")).toBe(true);
    expect(await hold()).toMatchObject({
      error: { code: -32_603, message: expect.stringContaining("too many") },
    });
    expect(fake.received.filter(({ message }) => message?.["method"] === "tasks/cancel")).toHaveLength(1);
    expect(await get(client, made[0]?.result?.["taskId"])).toMatchObject({ status: "working" });
    await client.result(client.once("tasks/cancel", { taskId: made[0]?.result?.["taskId"] }));
    expect(await hold()).toMatchObject({ result: { resultType: "task" } });
  });
});

describe("M55 M81 two tasks over one pipe", () => {
  it("ask what belongs to each of them, at the same time", async () => {
    await using served = await openPipe({ it: fakeStdio(legacy) }, { limits: patient });
    const client = await served.connect("modern", { capabilities: { ...tasks, ...elicitation } });
    const ids = new Map<string, unknown>();
    for (const filename of ["a", "b"])
      ids.set(filename, (await client.result(client.call("it__confirm_delete", { filename })))["taskId"]);
    for (const [filename, taskId] of ids)
      expect(await until(client, taskId, "input_required")).toMatchObject({
        inputRequests: { "input-1": { params: { message: `Delete ${filename}?` } } },
      });
    for (const taskId of ids.values())
      await client.result(client.once("tasks/update", { taskId, inputResponses: { "input-1": accepted } }));
    for (const [filename, taskId] of ids)
      expect(await until(client, taskId, "completed")).toMatchObject({
        result: { content: text(`deleted ${filename}`) },
      });
  });
});
