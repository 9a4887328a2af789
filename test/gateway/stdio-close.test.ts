import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { createGateway } from "../../src/gateway/index.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import type { Script } from "../fixtures/fake/index.ts";
import { openHub } from "../servers/hub-fixture.ts";
import { openClient } from "./clients/open-client.ts";
import { StdioWire } from "./clients/stdio-wire.ts";

async function openServed(script: Script = {}) {
  const hub = await openHub({ one: fakeStdio(script) }, { keepFresh: true });
  const gateway = createGateway(hub);
  const [input, output] = [new PassThrough(), new PassThrough()];
  const done = gateway.serveStdio({ input, output });
  return {
    gateway,
    done,
    input,
    output,
    get wire() {
      return new StdioWire(input, output);
    },
  };
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

  it("answers what was read before the end of the input, also without a last line break", async () => {
    const { gateway, done, input, output } = await openServed();
    const ask = (id: number, method: string, params: object) =>
      JSON.stringify({ jsonrpc: "2.0", id, method, params });
    const clientInfo = { name: "printf", version: "1" };
    const hello = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
    input.end(
      [
        ask(1, "initialize", hello),
        JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }),
        ask(2, "tools/call", { name: "one__echo", arguments: { text: "hi" } }),
      ].join("\n"),
    );
    await done;
    output.end();
    const answers = (await output.setEncoding("utf8").toArray()).join("").trim().split("\n");
    expect(answers.map((line: string) => JSON.parse(line) as object)).toContainEqual(
      expect.objectContaining({ id: 2, result: expect.objectContaining({ content: expect.anything() }) }),
    );
    await gateway.close();
  });

  it("tells a server that asks after the end of the input that nobody answers, and waits no longer", async () => {
    const { gateway, done, wire } = await openServed();
    const client = await openClient("legacy", wire, {
      capabilities: { elicitation: {} },
      answer: () => new Promise(() => undefined),
    });
    const running = client.call("one__elicit", { message: "Who?" });
    await client.sees("the question", ({ kind }) => kind === "question");
    await client.close();
    expect(JSON.stringify(await running.answer)).toContain("The client is gone");
    await done;
    await gateway.close();
  });

  it.each(["when nobody reads the answers any more", "when it is told to stop after the end of its input"])(
    "ends running calls at once %s",
    async (when) => {
      const silent = { when: { tool: "echo" }, do: [{ silent: true as const }] };
      const { gateway, done, input, output, wire } = await openServed({ on: [silent] });
      const client = await openClient("legacy", wire, {});
      const sent = wire.send(
        JSON.stringify({ jsonrpc: "2.0", id: 99, method: "tools/call", params: { name: "one__echo" } }),
      );
      await sent;
      await client.result(client.request("tools/list"));
      input.end();
      if (when.startsWith("when nobody")) output.destroy();
      else await gateway.close();
      await done;
      await gateway.close();
    },
  );

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
