import { setTimeout as sleep } from "node:timers/promises";
import { queryObjects, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { startDeadline } from "../../src/lib/deadline.ts";
import { add, openScene } from "../auth/oauth-fixture.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { openHub } from "../servers/hub-fixture.ts";

const times = 30;
setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** How many signals are left after the work was done many times; it is done once before, to warm up. */
async function signalsLeft(work: () => Promise<unknown>): Promise<number> {
  await work();
  const before = await signals();
  for (let time = 0; time < times; time++) await work();
  return (await signals()) - before;
}

/** What was used in the same turn of the event loop is not collected. */
async function signals(): Promise<number> {
  for (let turn = 0; turn < 3; turn++) {
    await sleep(0);
    collectGarbage();
  }
  return queryObjects(AbortSignal, { format: "count" });
}

it("keeps no signal of a login that is over", async () => {
  let now = Date.now();
  const clock = () => now;
  const client = { client_id: "robot", client_secret: "s3cret-of-the-robot" };
  const scene = await openScene({ accessTokenMs: 10_000, clock, registration: false, clients: [client] });
  const oauth = {
    grant: "client-credentials",
    clientId: client.client_id,
    clientSecret: client.client_secret,
  };
  const hub = await scene.hub({ oauth }, { clock });
  const left = await signalsLeft(async () => {
    now += 9_500;
    await add(hub);
  });
  expect(scene.auth.stats.tokens).toBeGreaterThan(times);
  expect(left).toBeLessThan(times / 2);
});

it("keeps no signal of a question that was answered", async () => {
  await using hub = await openHub({ it: fakeStdio({ versions: "legacy" }) });
  let asked = 0;
  const elicit = async () => ({ action: "accept" as const, content: { name: `ada ${++asked}` } });
  const view = hub.view({ interact: { elicit } });
  const left = await signalsLeft(() => view.callTool("it.elicit", {}));
  expect(asked).toBe(times + 1);
  expect(left).toBeLessThan(times / 2);
});

it("ends like a timeout unless it is disposed of before", async () => {
  const { signal } = startDeadline(1);
  const { promise, resolve } = Promise.withResolvers<unknown>();
  signal.addEventListener("abort", resolve, { once: true });
  const alive = setTimeout(() => undefined, 60_000);
  await promise;
  clearTimeout(alive);
  expect(signal.reason).toMatchObject({ name: "TimeoutError" });
});
