import { expect, it } from "vitest";
import { MessageBudget, isDroppable } from "../../src/servers/rpc/message-budget.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import type { Step } from "../fixtures/fake/index.ts";
import { openHub } from "../servers/hub-fixture.ts";

const lines = 20_000;
const log: Step = {
  notify: { method: "notifications/message", params: { level: "error", data: "x" } },
  times: lines,
};
const changed: Step = { notify: { method: "notifications/tools/list_changed", params: {} } };

it("a flood of log lines is cut, counted once, and hides neither changes nor answers", async () => {
  const on = [{ when: { tool: "echo" }, do: [log, changed, { default: true as const }] }];
  await using hub = await openHub({ it: fakeStdio({ versions: "legacy", on }) });
  const heard = Array.from({ length: 20 }, () => ({ lines: 0, changes: 0, dropped: 0 }));
  const all = Promise.withResolvers<void>();
  const view = hub.view({ caller: "ada" });
  for (const one of heard)
    view.onNotification(({ method, params: { data } }) => {
      if (method.endsWith("list_changed")) one.changes++;
      else if (data === "x") one.lines++;
      else one.dropped += Number(/^[\d,]+/.exec(String(data))?.[0].replaceAll(",", ""));
      if (heard.every(({ lines: passed, dropped }) => passed + dropped === lines)) all.resolve();
    });
  hub
    .view({ caller: "bob" })
    .onNotification(({ params: { data } }) => data !== undefined && all.reject(data));
  await view.callTool("it.echo");
  await all.promise;
  for (const one of heard) {
    expect(one.lines).toBeLessThan(lines / 2);
    expect(one.changes).toBe(1);
  }
});

it("a flood of changes of one resource is told now and then to the many that subscribed to it", async () => {
  const uri = "test://one";
  const updated: Step = {
    notify: { method: "notifications/resources/updated", params: { uri } },
    times: lines,
  };
  const on = [{ when: { tool: "echo" }, do: [updated, { default: true as const }] }];
  const capabilities = { resources: { subscribe: true }, tools: {} };
  await using hub = await openHub({ it: fakeStdio({ versions: "legacy", capabilities, on }) });
  const told = Array.from({ length: 100 }, () => 0);
  for (const index of told.keys())
    await hub.subscribeResource("it", uri, () => void (told[index] = (told[index] ?? 0) + 1));
  await hub.callTool("it.echo");
  for (const count of told) {
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThan(lines / 2);
  }
});

it("a budget is for messages and their listeners, and comes back with time", () => {
  let [now, listeners] = [0, 100];
  const budget = new MessageBudget(
    () => listeners,
    () => now,
  );
  const taken = () => {
    let count = 0;
    while (budget.takes()) count++;
    return count;
  };
  expect(taken()).toBe(100);
  now += 1_000;
  expect(taken()).toBe(50);
  now += 3_600_000;
  listeners = 1;
  expect(taken()).toBe(10_000);
  now += 3_600_000;
  listeners = 1_000_000;
  expect(taken()).toBe(1);
});

it("only what nobody has to hear is ever dropped", () => {
  const kept = [
    "tools/list_changed",
    "resources/updated",
    "cancelled",
    "elicitation/complete",
    "tasks/status",
  ];
  expect(kept.filter((name) => isDroppable(`notifications/${name}`))).toEqual([]);
  expect(["notifications/message", "notifications/example/said"].every(isDroppable)).toBe(true);
});
