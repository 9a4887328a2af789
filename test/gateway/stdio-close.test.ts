import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { createGateway } from "../../src/gateway/index.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { openHub } from "../servers/hub-fixture.ts";
import { openClient } from "./clients/open-client.ts";
import { StdioWire } from "./clients/stdio-wire.ts";

async function openServed() {
  const hub = await openHub({ one: fakeStdio() }, { keepFresh: true });
  const gateway = createGateway(hub);
  const [input, output] = [new PassThrough(), new PassThrough()];
  const done = gateway.serveStdio({ input, output });
  return { gateway, done, wire: new StdioWire(input, output) };
}

describe("M80 closing a gateway over a pipe", () => {
  it("lets running calls finish, with their questions, and takes no new ones", async () => {
    const { gateway, done, wire } = await openServed();
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<Record<string, unknown>>();
    const client = await openClient("legacy", wire, {
      capabilities: { elicitation: {} },
      answer: () => {
        asked.resolve();
        return answer.promise;
      },
    });
    const running = client.call("one__elicit", { message: "Who?" });
    await asked.promise;
    const closed = gateway.close();
    expect(await client.call("one__echo", { text: "late" }).answer).toMatchObject({
      error: { code: -32_000, message: "The gateway is shutting down." },
    });
    answer.resolve({ action: "accept", content: { name: "Ada" } });
    expect(await client.result(running)).toMatchObject({
      structuredContent: { answers: [{ content: { name: "Ada" } }] },
    });
    await closed;
    await done;
  });

  it("ends what does not finish in time, and streams that listen at once", async () => {
    const { gateway, done, wire } = await openServed();
    const client = await openClient("modern", wire, {});
    await client.listen({ tools: true });
    await gateway.close();
    await done;
    const stuck = await openServed();
    const legacy = await openClient("legacy", stuck.wire, {
      capabilities: { elicitation: {} },
      answer: () => new Promise(() => undefined),
    });
    legacy.call("one__elicit", { message: "Who?" });
    await legacy.sees("the question", ({ kind }) => kind === "question");
    await stuck.gateway.close({ drainMs: 1 });
    await stuck.done;
  });
});
