import { expect } from "vitest";
import type { TestClient } from "../clients/client.ts";
import { subscriptionOf } from "../clients/modern-client.ts";
import { allOf, cancelledAt, isOnStreamOf, type RunCell, until } from "./cell.ts";

export const progress: RunCell = async ({ client, name, heard }) => {
  for (const progressToken of ["mine", 7]) {
    client.seen.length = 0;
    const sent = client.call(name("progress"), { steps: 3 }, { progressToken });
    await client.result(sent);
    const seen = client.notifications("notifications/progress");
    expect(seen.map(({ params }) => params)).toEqual(
      [1, 2, 3].map((step) => ({ progressToken, progress: step, total: 3, message: `step ${step}` })),
    );
    expect(seen.every((one) => isOnStreamOf(sent, client, one))).toBe(true);
  }
  client.seen.length = 0;
  await client.result(client.call(name("progress"), { steps: 2 }));
  expect(client.notifications("notifications/progress")).toEqual([]);
  // Two rounds: what comes after the question has the token too.
  client.seen.length = 0;
  client.answer = () => ({ action: "accept", content: { name: "Ada" } });
  await client.result(client.call(name("interview"), {}, { progressToken: "again" }));
  const messages = client.notifications("notifications/progress").map(({ params }) => params);
  expect(messages).toContainEqual({ progressToken: "again", progress: 2, message: "asked" });
  expect(heard("tools/call").some(({ text }) => text.includes('"mine"'))).toBe(false);
};

export const cancellation: RunCell = async (cell) => {
  const { client, name, heard } = cell;
  const before = await cancelledAt(cell);
  const slow = client.call(name("sleep"), { ms: 120_000 });
  await until("the server has the call", () => heard("tools/call").some(isSleep));
  slow.cancel();
  await until("the server knows", async () => (await cancelledAt(cell)) === before + 1);
  // Only that one, and it has no answer.
  expect(client.seen.filter(({ kind, id }) => kind === "answer" && id === slow.id)).toEqual([]);
};

export const leaving: RunCell = async (cell) => {
  const { name, heard, fresh, pair } = cell;
  const before = await cancelledAt(cell);
  const leaver = await fresh();
  leaver.call(name("sleep"), { ms: 120_000 });
  await until("the server has the call", () => heard("tools/call").some(isSleep));
  await leave(leaver);
  await until("the server knows", async () => (await cancelledAt(cell)) === before + 1);
  if (pair !== "legacy-legacy") return;
  // The same while it is being asked. A modern server has no request open then; a modern client may come back.
  const asked = await fresh({ answer: () => new Promise<never>(() => {}) });
  asked.call(name("elicit"));
  await asked.sees("its question", ({ kind }) => kind === "question");
  await leave(asked);
  await until("the server knows", async () => (await cancelledAt(cell)) === before + 2);
};

/** Over legacy HTTP a client goes away by ending its session. */
async function leave(client: TestClient): Promise<void> {
  if (client.era === "legacy" && client.wire.transport === "http") await client.close();
  else client.disconnect();
}

const isSleep = ({ message }: { message: { params?: Record<string, unknown> } }): boolean =>
  message.params?.["name"] === "sleep";

export const logging: RunCell = async ({ client, name }) => {
  const logged = (levels: string[]) =>
    levels.map((level) => ({ level, logger: "fake", data: { said: level, nested: [1] } }));
  await client.setLogLevel("critical");
  const sent = client.call(name("log"));
  await client.result(sent);
  const seen = client.notifications("notifications/message");
  expect(seen.map(({ params }) => params)).toEqual(logged(["critical", "alert", "emergency"]));
  expect(seen.every((one) => isOnStreamOf(sent, client, one))).toBe(true);
  await client.setLogLevel(undefined);
  client.seen.length = 0;
  await client.result(client.call(name("log")));
  const rest = client.era === "modern" ? [] : ["emergency"];
  expect(client.notifications("notifications/message").map(({ params }) => params)).toEqual(logged(rest));
};

export const listChanges: RunCell = async ({ name, fresh }) => {
  const client = await fresh();
  const partial = await fresh();
  await client.listen({ tools: true, prompts: true, resources: true });
  if (client.era === "modern") await partial.listen({ prompts: true });
  // A modern client hears first what changed since others of its caller listened.
  await client.result(client.request("tools/list"));
  client.seen.length = 0;
  for (const kind of ["tools", "prompts", "resources"]) {
    const { content } = await client.result(client.call(name("grow"), { what: kind }));
    const [{ text: grown }] = content as [{ text: string }];
    const method = `notifications/${kind}/list_changed`;
    const change = await client.sees(method, (seen) => seen.method === method);
    if (client.era === "legacy") expect(["standing", "pipe"]).toContain(change.stream);
    expect(subscriptionOf(change.params) !== undefined).toBe(client.era === "modern");
    // Whoever looks after that sees what is new.
    expect(JSON.stringify(await allOf(client, `${kind}/list`, kind))).toContain(grown);
  }
  if (client.era === "modern") {
    await partial.sees("its own change", ({ method }) => method === "notifications/prompts/list_changed");
    expect(partial.notifications("notifications/tools/list_changed")).toEqual([]);
  }
  await Promise.all([client.close(), partial.close()]);
};

export const updates: RunCell = async ({ upstream, name, heard, fresh }) => {
  const [one, other] = [`fake://${upstream.name}/readme`, `fake://${upstream.name}/ask`];
  const [a, b] = [await fresh(), await fresh()];
  await a.listen({ uris: [one] });
  await b.listen({ uris: [other] });
  const asked = heard(upstream.era === "modern" ? "subscriptions/listen" : "resources/subscribe");
  expect(asked.some(({ text }) => text.includes(one))).toBe(true);
  expect(asked.some(({ text }) => text.includes(other))).toBe(true);
  await a.result(a.call(name("change"), { what: one }));
  await a.result(a.call(name("change"), { what: other }));
  const update = "notifications/resources/updated";
  await a.sees("its update", ({ method }) => method === update);
  await b.sees("its update", ({ method }) => method === update);
  expect(a.notifications(update).map(({ params }) => params?.["uri"])).toEqual([one]);
  expect(b.notifications(update).map(({ params }) => params?.["uri"])).toEqual([other]);
  await Promise.all([a.close(), b.close()]);
  // Nobody is left who wants to know.
  const ended = (uri: string) => heard("resources/unsubscribe").some(({ text }) => text.includes(uri));
  if (upstream.era === "legacy") await until("the server is told", () => ended(one) && ended(other));
};
