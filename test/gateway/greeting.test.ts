import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { createGateway } from "../../src/gateway/index.ts";
import { createMemoryStore } from "../../src/store/memory.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { inProcessFake, openHub } from "../servers/hub-fixture.ts";

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
