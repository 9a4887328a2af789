import { describe, expect, it } from "vitest";
import { defaultLimits } from "../../src/gateway/http/limits.ts";
import { Ledger, holdLimits } from "../../src/gateway/ledger.ts";
import { rawResult } from "../../src/gateway/result.ts";
import { GatewayTasks } from "../../src/gateway/tasks/gateway-tasks.ts";
import { RunningTask } from "../../src/gateway/tasks/running-task.ts";
import type { Answer } from "../../src/gateway/exchange.ts";

const limit = 100_000;

/** A task of Ada's that is told to go on with the answers to what it asks. */
function follow(first: Answer, again: () => Promise<Answer> = () => new Promise(() => undefined)) {
  const ledger = new Ledger(holdLimits({ ...defaultLimits, heldBytesPerCaller: limit }));
  const abort = new AbortController();
  const task = new RunningTask({ id: "g_1", caller: "ada", server: "it", ttlMs: 60_000, abort });
  const tasks = new GatewayTasks(60_000, ledger);
  tasks.add(task, 100);
  const changed = new Promise<void>((resolve) => task.onChange(resolve));
  task.follow(Promise.resolve(first), again);
  return { task, abort, changed, bytes: () => ledger.held("tasks", "ada").bytes };
}

const asking = (words: string): Answer => ({
  result: { resultType: "input_required", inputRequests: { name: { method: "elicitation/create", words } } },
});

describe("a task that requires input", () => {
  it("is counted with what it asks and what it was answered, and only for as long as it waits", async () => {
    const { task, changed, bytes } = follow(asking("x".repeat(50_000)));
    await changed;
    expect(bytes()).toBeGreaterThan(50_000);
    task.update({ "input-1": { text: "x".repeat(20_000) } });
    expect(bytes()).toBeGreaterThan(70_000);
    task.cancel();
    expect(bytes()).toBe(0);
  });

  it("fails when that is more than its caller may have, and its server is told", async () => {
    const { task, changed, abort, bytes } = follow(asking("x".repeat(2 * limit)));
    await changed;
    expect(task.outcome).toMatchObject({ error: { message: expect.stringContaining("more than is kept") } });
    expect([task.status, abort.signal.aborted, task.inputRequests]).toEqual(["failed", true, {}]);
    expect(bytes()).toBeLessThan(1_000);
  });
});

describe("the result of a task", () => {
  it("keeps nothing else of the message that it came in", async () => {
    const message = Buffer.from(`{"result":{"content":[]},"unknown":"${"x".repeat(1_000_000)}"}`);
    const { task, changed } = follow(rawResult(message.subarray(10, 24)));
    await changed;
    const bytes = task.outcome && "bytes" in task.outcome ? task.outcome.bytes : undefined;
    expect(bytes?.toString()).toBe('{"content":[]}');
    expect(bytes?.buffer.byteLength).toBeLessThan(10_000);
  });

  it("is counted as what it takes when it is no text: an object of two bytes takes dozens", async () => {
    const { changed, bytes } = follow({ result: { list: Array.from({ length: 1_000 }, () => ({})) } });
    await changed;
    expect(bytes()).toBeGreaterThan(50_000);
  });
});
