import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { createGateway } from "../../src/gateway/index.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { inProcessFake, openHub } from "../servers/hub-fixture.ts";
import { openPipe } from "./open-pipe.ts";

it("M80 nothing reaches a client before the answer to its `initialize`", async () => {
  // What an unused server said last is read from a store that takes its time.
  const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const memory = createMemoryStore();
  let isHeld = false;
  const store = {
    ...memory,
    durable: false,
    get: async (key: string) => {
      if (isHeld) {
        asked.resolve();
        await held.promise;
      }
      return memory.get(key);
    },
  };
  await using hub = await openHub(
    { one: inProcessFake({}), unused: fakeStdio({}) },
    { keepFresh: true, store },
  );
  await hub.connect("one");
  const gateway = createGateway(hub);
  const [input, output] = [new PassThrough(), new PassThrough()];
  const done = gateway.serveStdio({ input, output });
  isHeld = true;
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } };
  input.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
  await asked.promise;
  await hub.disable("one");
  for (let turn = 0; turn < 5; turn++) await setImmediate();
  held.resolve();
  input.end();
  await done;
  await gateway.close();
  output.end();
  const [first = ""] = (await text(output)).split("\n");
  expect(JSON.parse(first)).toHaveProperty("result.protocolVersion");
});

it("M80 the instructions of one server leave room for those of the others", async () => {
  const verbose = inProcessFake({ instructions: "😀".repeat(10_000) });
  const brief = inProcessFake({ instructions: "Ask twice." });
  await using served = await openPipe({ a: verbose, b: verbose, brief });
  const { server } = await served.connect("legacy");
  const said = String(server["instructions"]);
  expect(said).toContain("# brief\nAsk twice.");
  expect(said.length).toBeLessThanOrEqual(8_000);
  expect(said.isWellFormed()).toBe(true);
  const [a = "", b = ""] = said.split("\n\n");
  expect(a.length).toBeGreaterThan(3_900);
  expect(b.length).toBe(a.length);
});
