import { describe, expect, it, vi } from "vitest";
import { isPlugboardError } from "../../src/index.ts";
import type { Hub } from "../../src/index.ts";
import type { Fields, TestClient } from "./clients/client.ts";
import { call, forms, openWaiting, sum, tasks, waitingQuestion } from "./waiting.ts";

const overOf = (hub: Hub, id: string) =>
  hub.approvals.answer(id, { decision: "allow" }).then(
    () => "answered",
    (error: unknown) => (isPlugboardError(error) ? `${error.code}: ${error.message}` : String(error)),
  );
const nothingWaits = (hub: Hub) => vi.waitFor(async () => expect(await hub.approvals.waiting()).toEqual([]));
const textOf = (result: Fields) => JSON.stringify(result["content"]);

describe.each(["legacy", "modern"] as const)("M61 a %s client whose call waits for approval", (era) => {
  it("sees progress, and gets the result once it is allowed", async () => {
    await using it = await openWaiting();
    const gateway = await it.start();
    const client = await gateway.connect(era);
    const sent = client.once("tools/call", call, { progressToken: "p" });
    const { id, caller } = await waitingQuestion(gateway.hub);
    expect(caller).toBe("token");
    const { params } = await client.sees("progress", ({ method }) => method === "notifications/progress");
    expect(params).toMatchObject({ progressToken: "p", message: `add on "it" waits for approval (${id})` });
    await gateway.hub.approvals.answer(id, { decision: "allow" });
    expect(await client.result(sent)).toMatchObject(sum);
    expect(it.sent()).toHaveLength(1);
  });

  it("is not asked about again for as long as an answer is remembered", async () => {
    await using it = await openWaiting();
    const gateway = await it.start();
    const client = await gateway.connect(era);
    const sent = client.once("tools/call", call);
    const { id } = await waitingQuestion(gateway.hub);
    await gateway.hub.approvals.answer(id, { decision: "allow", remember: "session" });
    await client.result(sent);
    expect(await client.result(client.once("tools/call", call))).toMatchObject(sum);
    expect(it.sent()).toHaveLength(2);
  });

  it("is told when it is denied, and nothing is run", async () => {
    await using it = await openWaiting();
    const gateway = await it.start();
    const client = await gateway.connect(era);
    const sent = client.once("tools/call", call);
    const { id } = await waitingQuestion(gateway.hub);
    await gateway.hub.approvals.answer(id, { decision: "deny", reason: "not today" });
    const result = await client.result(sent);
    expect(result).toMatchObject({
      isError: true,
      _meta: { "plugboard/error": { code: "approval-denied" } },
    });
    expect(textOf(result)).toContain("not today");
    expect(it.sent()).toEqual([]);
  });

  it("has nothing run for it after it has cancelled", async () => {
    await using it = await openWaiting();
    const gateway = await it.start();
    const client = await gateway.connect(era);
    const sent = client.once("tools/call", call);
    const { id } = await waitingQuestion(gateway.hub);
    sent.cancel();
    await nothingWaits(gateway.hub);
    expect(await overOf(gateway.hub, id)).toMatch(/^question-over: .*is gone/);
    expect(it.sent()).toEqual([]);
  });

  it("has nothing run for it after it has left", async () => {
    await using it = await openWaiting();
    const gateway = await it.start();
    const client = await gateway.connect(era);
    client.once("tools/call", call, { progressToken: "p" });
    const { id } = await waitingQuestion(gateway.hub);
    await client.sees("progress", ({ method }) => method === "notifications/progress");
    client.disconnect();
    await nothingWaits(gateway.hub);
    expect(await overOf(gateway.hub, id)).toMatch(/^question-over: .*is gone/);
    expect(it.sent()).toEqual([]);
  });

  it("has nothing run for it when the gateway has restarted meanwhile", async () => {
    await using it = await openWaiting();
    const before = await it.start();
    const client = await before.connect(era);
    client.once("tools/call", call);
    const { id } = await waitingQuestion(before.hub);
    await before.stop();
    const after = await it.start();
    expect(await after.hub.approvals.waiting()).toEqual([]);
    expect(await overOf(after.hub, id)).toMatch(/^question-over: .*is gone/);
    expect(it.sent()).toEqual([]);
  });
});

/** The first answer of a call: what its client has to come back with. */
async function handedOut(client: TestClient): Promise<Fields> {
  const result = await client.result(client.once("tools/call", call));
  expect(result).toMatchObject({
    resultType: "input_required",
    inputRequests: { approval: { method: "elicitation/create", params: { mode: "form" } } },
    requestState: expect.any(String),
  });
  return { requestState: result["requestState"], inputResponses: { approval: { action: "accept" } } };
}

describe("M61 a modern client that holds an input_required state", () => {
  it("gets the result with its next request, once", async () => {
    await using it = await openWaiting();
    const gateway = await it.start();
    const client = await gateway.connect("modern", forms);
    const back = await handedOut(client);
    const { id } = await waitingQuestion(gateway.hub);
    const second = client.once("tools/call", { ...call, ...back });
    await gateway.hub.approvals.answer(id, { decision: "allow" });
    expect(await client.result(second)).toMatchObject(sum);
    const again = await client.result(client.once("tools/call", { ...call, ...back }));
    expect(again).toMatchObject({ isError: true });
    expect(textOf(again)).toContain("was used already");
    expect(it.sent()).toHaveLength(1);
    expect(JSON.stringify(it.sent())).not.toMatch(/requestState|inputResponses/);
  });

  it("is told what it waits for, and its own yes allows nothing", async () => {
    await using it = await openWaiting();
    const gateway = await it.start();
    const client = await gateway.connect("modern", forms);
    const result = await client.result(client.once("tools/call", call));
    const { id } = await waitingQuestion(gateway.hub);
    const { approval } = result["inputRequests"] as Record<string, { params: Fields }>;
    expect(approval?.params["message"]).toContain(`plugboard approvals answer ${id} allow`);
    const { requestState } = result;
    const inputResponses = {
      approval: { action: "accept", content: { decision: "allow", approve: true } },
    };
    const second = client.once("tools/call", { ...call, requestState, inputResponses });
    await gateway.hub.approvals.answer(id, { decision: "deny" });
    expect(await client.result(second)).toMatchObject({ isError: true });
    expect(it.sent()).toEqual([]);
  });

  it("goes on after a restart of the gateway, answered before or after it", async () => {
    await using it = await openWaiting();
    const first = await it.start();
    const early = await handedOut(await first.connect("modern", forms));
    const { id } = await waitingQuestion(first.hub);
    await first.hub.approvals.answer(id, { decision: "allow" });
    const late = await handedOut(await first.connect("modern", forms));
    await first.stop();
    const second = await it.start();
    const client = await second.connect("modern", forms);
    expect(await client.result(client.once("tools/call", { ...call, ...early }))).toMatchObject(sum);
    const other = await waitingQuestion(second.hub);
    await second.hub.approvals.answer(other.id, { decision: "allow" });
    expect(await client.result(client.once("tools/call", { ...call, ...late }))).toMatchObject(sum);
    expect(it.sent()).toHaveLength(2);
  });

  it("is denied, refused and too late after a restart as before it", async () => {
    let shift = 0;
    await using it = await openWaiting({ hub: { clock: () => Date.now() + shift } });
    const first = await it.start();
    const client = await first.connect("modern", forms);
    const back = [await handedOut(client), await handedOut(client), await handedOut(client)];
    await first.stop();
    const second = await it.start();
    const again = await second.connect("modern", forms);
    const retry = (index: number, own: Fields = {}) =>
      again.once("tools/call", { ...call, ...back[index], ...own });
    const [denied, changed, ignored] = await second.hub.approvals.waiting();
    if (!denied || !changed || !ignored) throw new Error("they do not wait");
    await second.post(denied.id, { decision: "deny", digest: denied.digest, reason: "not today" });
    expect(textOf(await again.result(retry(0)))).toContain("not today");
    expect(textOf(await again.result(retry(0)))).toContain("was denied");
    await second.post(changed.id, { decision: "allow", digest: changed.digest });
    const other = { arguments: { a: 1, b: 3 } };
    expect(await retry(1, other).answer).toMatchObject({ error: { code: -32_602 } });
    shift = 3_600_001;
    expect(textOf(await again.result(retry(2)))).toContain("nobody answered in time");
    expect(await overOf(second.hub, ignored.id)).toMatch(/^question-over: .*has expired/);
    expect(textOf(await again.result(retry(1)))).toContain("nobody answered in time");
    expect(it.sent()).toEqual([]);
  });

  it("is refused with other arguments, and by another tool", async () => {
    await using it = await openWaiting();
    const gateway = await it.start();
    const client = await gateway.connect("modern", forms);
    const back = await handedOut(client);
    const { id } = await waitingQuestion(gateway.hub);
    await gateway.hub.approvals.answer(id, { decision: "allow" });
    for (const other of [{ arguments: { a: 1, b: 3 } }, { name: "it__echo" }]) {
      const { answer } = client.once("tools/call", { ...call, ...back, ...other });
      expect(await answer).toMatchObject({ error: { code: -32_602 } });
    }
    expect(it.sent()).toEqual([]);
  });

  it("gives the call up by declining: a late answer runs nothing", async () => {
    await using it = await openWaiting();
    const gateway = await it.start();
    const client = await gateway.connect("modern", forms);
    const { requestState } = await handedOut(client);
    const { id } = await waitingQuestion(gateway.hub);
    const inputResponses = { approval: { action: "decline" } };
    const result = await client.result(client.once("tools/call", { ...call, requestState, inputResponses }));
    expect(textOf(result)).toContain("given up");
    expect(await overOf(gateway.hub, id)).toMatch(/^question-over: .*is gone/);
    expect(it.sent()).toEqual([]);
  });

  it("keeps its place when it leaves while it waits with its state", async () => {
    await using it = await openWaiting();
    const gateway = await it.start();
    const client = await gateway.connect("modern", forms);
    const back = await handedOut(client);
    const { id } = await waitingQuestion(gateway.hub);
    const second = client.once("tools/call", { ...call, ...back }, { progressToken: "p" });
    await client.sees("progress", ({ method }) => method === "notifications/progress");
    second.cancel();
    const underWay = () => gateway.hub.calls().filter(({ outcome }) => outcome === undefined);
    await vi.waitFor(() => expect(underWay()).toEqual([]));
    await gateway.hub.approvals.answer(id, { decision: "allow" });
    expect(await client.result(client.once("tools/call", { ...call, ...back }))).toMatchObject(sum);
  });
});

const get = (client: TestClient, taskId: unknown) => client.result(client.once("tasks/get", { taskId }));

async function until(client: TestClient, taskId: unknown, status: string): Promise<Fields> {
  return vi.waitFor(
    async () => {
      const task = await get(client, taskId);
      expect(task).toMatchObject({ status });
      return task;
    },
    { timeout: 10_000 },
  );
}

describe("M61 a client with tasks", () => {
  it("gets a task that waits, and then its result", async () => {
    await using it = await openWaiting();
    const gateway = await it.start();
    const client = await gateway.connect("modern", { ...tasks, ...forms });
    const task = await client.result(client.once("tools/call", call));
    const { id } = await waitingQuestion(gateway.hub);
    expect(task).toMatchObject({ resultType: "task", status: "working", taskId: id });
    expect(await get(client, id)).toMatchObject({
      status: "working",
      statusMessage: expect.stringContaining("waits for approval"),
    });
    await gateway.hub.approvals.answer(id, { decision: "allow" });
    expect(await until(client, id, "completed")).toMatchObject({ result: sum });
    expect(it.sent()).toHaveLength(1);
  });

  it("gets it after a restart of the gateway: once, and only when it asks", async () => {
    await using it = await openWaiting();
    const first = await it.start();
    const { taskId } = await (async () => {
      const client = await first.connect("modern", tasks);
      return client.result(client.once("tools/call", call));
    })();
    await first.stop();
    const second = await it.start();
    const { id } = await waitingQuestion(second.hub);
    expect(id).toBe(taskId);
    await second.hub.approvals.answer(id, { decision: "allow" });
    expect(it.sent()).toEqual([]);
    const client = await second.connect("modern", tasks);
    await Promise.all([get(client, id), get(client, id), get(client, id)]);
    expect(await until(client, id, "completed")).toMatchObject({ result: sum });
    expect(it.sent()).toHaveLength(1);
    await second.stop();
    const third = await it.start();
    const later = await third.connect("modern", tasks);
    expect(await later.once("tasks/get", { taskId: id }).answer).toMatchObject({ error: { code: -32_602 } });
    expect(it.sent()).toHaveLength(1);
  });

  it("waits on after a restart, and hears that it was denied", async () => {
    await using it = await openWaiting();
    const first = await it.start();
    const before = await first.connect("modern", tasks);
    const { taskId } = await before.result(before.once("tools/call", call));
    await first.stop();
    const second = await it.start();
    const client = await second.connect("modern", tasks);
    expect(await get(client, taskId)).toMatchObject({ status: "working" });
    await second.hub.approvals.answer(String(taskId), { decision: "deny", reason: "not today" });
    const done = await until(client, taskId, "completed");
    expect(JSON.stringify(done["result"])).toContain("not today");
    expect(it.sent()).toEqual([]);
  });

  it("withdraws the question when it cancels the task", async () => {
    await using it = await openWaiting();
    const gateway = await it.start();
    const client = await gateway.connect("modern", tasks);
    const { taskId } = await client.result(client.once("tools/call", call));
    await client.result(client.once("tasks/cancel", { taskId }));
    await nothingWaits(gateway.hub);
    expect(await overOf(gateway.hub, String(taskId))).toMatch(/^question-over: .*is gone/);
    expect(it.sent()).toEqual([]);
  });

  it("of 2025-11-25 gets the result of its task too", async () => {
    await using it = await openWaiting();
    const gateway = await it.start();
    const client = await gateway.connect("legacy", {}, { revision: "2025-11-25" });
    const made = await client.result(client.once("tools/call", { ...call, task: { ttl: 60_000 } }));
    const { taskId } = made["task"] as Fields;
    const result = client.once("tasks/result", { taskId });
    await gateway.hub.approvals.answer(String(taskId), { decision: "allow" });
    expect(await client.result(result)).toMatchObject(sum);
  });

  it("of 2025-11-25 finds it in the list after a restart", async () => {
    await using it = await openWaiting();
    const first = await it.start();
    const before = await first.connect("legacy", {}, { revision: "2025-11-25" });
    const made = await before.result(before.once("tools/call", { ...call, task: { ttl: 60_000 } }));
    const { taskId } = made["task"] as Fields;
    await first.stop();
    const second = await it.start();
    const client = await second.connect("legacy", {}, { revision: "2025-11-25" });
    expect(await client.result(client.once("tasks/list"))).toMatchObject({
      tasks: [{ taskId, status: "working" }],
    });
    await second.hub.approvals.answer(String(taskId), { decision: "allow" });
    expect(await client.result(client.once("tasks/result", { taskId }))).toMatchObject(sum);
    expect(it.sent()).toHaveLength(1);
  });

  it("of another caller does not get it", async () => {
    let caller = "alice";
    await using it = await openWaiting({ gateway: { authenticate: () => caller } });
    const first = await it.start();
    const alice = await first.connect("modern", tasks);
    const { taskId } = await alice.result(alice.once("tools/call", call));
    await first.stop();
    caller = "eve";
    const second = await it.start();
    await second.hub.approvals.answer(String(taskId), { decision: "allow" });
    const eve = await second.connect("modern", tasks);
    expect(await eve.once("tasks/get", { taskId }).answer).toMatchObject({ error: { code: -32_602 } });
    expect(it.sent()).toEqual([]);
  });
});

describe("M61 a gateway that closes", () => {
  it("does not wait for people: who can come back is sent away, and the other calls end", async () => {
    await using it = await openWaiting();
    const gateway = await it.start();
    const [plain, form] = [await gateway.connect("modern"), await gateway.connect("modern", forms)];
    const back = await handedOut(form);
    const { id } = await waitingQuestion(gateway.hub);
    const held = plain.once("tools/call", call);
    const returned = form.once("tools/call", { ...call, ...back }, { progressToken: "p" });
    await form.sees("progress", ({ method }) => method === "notifications/progress");
    await vi.waitFor(async () => expect(await gateway.hub.approvals.waiting()).toHaveLength(2));
    const closed = gateway.stop({ drainMs: 60_000, clientsStay: true });
    expect(await held.answer).toMatchObject({ error: { message: expect.stringContaining("given up") } });
    expect(await form.result(returned)).toMatchObject({ resultType: "input_required" });
    await closed;
    const next = await it.start();
    expect(await next.hub.approvals.waiting()).toMatchObject([{ id }]);
  });
});

describe("M61 a question that nobody answers", () => {
  it("ends every way to wait, and nothing is run", async () => {
    let shift = 0;
    await using it = await openWaiting({ hub: { clock: () => Date.now() + shift } });
    const gateway = await it.start();
    const [plain, form, task] = [
      await gateway.connect("modern"),
      await gateway.connect("modern", forms),
      await gateway.connect("modern", tasks),
    ];
    const held = plain.once("tools/call", call);
    const back = await handedOut(form);
    const { taskId } = await task.result(task.once("tools/call", call));
    shift = 3_600_001;
    expect(textOf(await plain.result(held))).toContain("nobody answered in time");
    const again = await form.result(form.once("tools/call", { ...call, ...back }));
    expect(textOf(again)).toContain("nobody answered in time");
    const over = await until(task, taskId, "completed");
    expect(JSON.stringify(over["result"])).toContain("nobody answered in time");
    expect(await overOf(gateway.hub, String(taskId))).toMatch(/^question-over: .*has expired/);
    expect(it.sent()).toEqual([]);
  });
});
