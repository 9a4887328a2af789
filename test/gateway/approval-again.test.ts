import { describe, expect, it, vi } from "vitest";
import type { Fields, TestClient } from "./clients/client.ts";
import { throughCallTool } from "./through-call-tool.ts";
import { call, forms, openWaiting, sum, tasks, waitingQuestion } from "./waiting.ts";

const done = (client: TestClient, taskId: unknown) =>
  vi.waitFor(
    async () => {
      const task = await client.result(client.once("tasks/get", { taskId }));
      expect(task).toMatchObject({ status: expect.not.stringMatching("working") });
      return task;
    },
    { timeout: 10_000 },
  );

/** The same call, by a client that holds a state. */
const again = ({ requestState }: Fields) => ({
  ...call,
  requestState,
  inputResponses: { approval: { action: "accept" } },
});

describe("M61 a call that somebody has denied", () => {
  it.each(["deny", "cancel"] as const)(
    "is not made after %s because another answer allows its tool",
    async (decision) => {
      await using it = await openWaiting();
      const gateway = await it.start();
      const [form, task, plain] = [
        await gateway.connect("modern", forms),
        await gateway.connect("modern", tasks),
        await gateway.connect("modern"),
      ];
      const state = await form.result(form.once("tools/call", call));
      const { taskId } = await task.result(task.once("tools/call", call));
      const held = plain.once("tools/call", call);
      await vi.waitFor(async () => expect(await gateway.hub.approvals.waiting()).toHaveLength(3));
      const [first, , last] = await gateway.hub.approvals.waiting();
      const no = { decision, reason: "not this one" };
      await gateway.hub.approvals.answer(String(first?.id), no);
      await gateway.hub.approvals.answer(String(last?.id), { decision: "allow", remember: "session" });
      expect(await plain.result(held)).toMatchObject(sum);
      await gateway.hub.approvals.answer(String(taskId), no);
      expect(JSON.stringify(await done(task, taskId))).toContain("not this one");
      for (const _twice of [1, 2])
        expect(JSON.stringify(await form.once("tools/call", again(state)).answer)).toContain("not this one");
      expect(it.sent()).toHaveLength(1);
    },
  );
});

describe("M61 an approved call of what is another tool after a restart", () => {
  it.each([
    ["the server has another entry", { env: { ACCOUNT: "another" } }],
    ["other effects are configured", { tools: { annotations: { add: { destructiveHint: true } } } }],
  ])(
    "is refused, and nothing is run, whatever was remembered when it was answered: %s",
    async (_, changes) => {
      await using it = await openWaiting();
      const first = await it.start();
      const before = await first.connect("modern", forms);
      const state = await before.result(before.once("tools/call", call));
      const { id } = await waitingQuestion(first.hub);
      await first.hub.approvals.answer(id, { decision: "allow", remember: "always" });
      await first.stop();
      const second = await it.start(changes);
      const client = await second.connect("modern", forms);
      const result = await client.result(client.once("tools/call", again(state)));
      expect(JSON.stringify(result)).toContain("the tool or its server has changed since");
      // What was remembered is about what the tool was.
      expect(await client.result(client.once("tools/call", call))).toMatchObject({
        resultType: "input_required",
      });
      expect(it.sent()).toEqual([]);
    },
  );
});

const silent = {
  settings: { toolSearch: true },
  script: { tools: [{ name: "add", inputSchema: { type: "object" } }] },
};

describe.each(["it__add", "it.add"])("M61 a call of %s through call_tool, where no rule asks", (name) => {
  it("still needs its verdict as a task after a restart", async () => {
    await using it = await openWaiting(silent);
    const first = await it.start();
    const before = throughCallTool(await first.connect("modern", tasks));
    const { taskId } = await before.result(before.once("tools/call", { ...call, name }));
    await first.stop();
    const second = await it.start();
    const client = await second.connect("modern", tasks);
    const answer = await client.result(client.once("tasks/get", { taskId }));
    expect(answer).toMatchObject({ status: "working" });
    // Without a verdict it would have been sent before a call that was made after it.
    await client.result(client.once("tools/call", { ...call, arguments: { a: 40, b: 2 } }));
    expect(it.sent()).toMatchObject([{ params: { arguments: { a: 40 } } }]);
    await second.hub.approvals.answer(String(taskId), { decision: "allow" });
    expect(await done(client, taskId)).toMatchObject({ status: "completed", result: sum });
    expect(it.sent()).toHaveLength(2);
  });

  it("still needs its verdict as an input_required state after a restart", async () => {
    await using it = await openWaiting(silent);
    const first = await it.start();
    const before = throughCallTool(await first.connect("modern", forms));
    const state = await before.result(before.once("tools/call", { ...call, name }));
    await first.stop();
    const second = await it.start();
    const client = throughCallTool(await second.connect("modern", forms));
    const { id } = await waitingQuestion(second.hub);
    const sent = client.once("tools/call", { ...again(state), name }, { progressToken: "p" });
    await client.sees("progress", ({ method }) => method === "notifications/progress");
    expect(it.sent()).toEqual([]);
    await second.hub.approvals.answer(id, { decision: "allow" });
    expect(await client.result(sent)).toMatchObject(sum);
    expect(it.sent()).toHaveLength(1);
  });
});

describe("M61 a task whose server asks something in the middle of its call", () => {
  it("leaves no question behind that nobody comes back for", async () => {
    const hub = { capabilities: { elicitation: { form: {} } } };
    await using it = await openWaiting({ hub, script: { versions: "modern" } });
    const first = await it.start();
    const client = await first.connect("modern", { ...tasks, ...forms });
    const sent = client.once("tools/call", { name: "it__elicit", arguments: {} });
    const { taskId } = await client.result(sent);
    await first.hub.approvals.answer(String(taskId), { decision: "allow" });
    const inputRequests = await vi.waitFor(async () => {
      const task = await client.result(client.once("tasks/get", { taskId }));
      expect(task).toMatchObject({ status: "input_required" });
      return task["inputRequests"] as Fields;
    });
    const [key = ""] = Object.keys(inputRequests);
    const inputResponses = { [key]: { action: "accept", content: { name: "Ada" } } };
    await client.result(client.once("tasks/update", { taskId, inputResponses }));
    const { id } = await waitingQuestion(first.hub);
    expect(id).not.toBe(taskId);
    await first.stop();
    const second = await it.start();
    expect(await second.hub.approvals.waiting()).toEqual([]);
    const late = second.hub.approvals.answer(id, { decision: "allow" });
    await expect(late).rejects.toMatchObject({ code: "question-over", data: { state: "gone" } });
  });
});
