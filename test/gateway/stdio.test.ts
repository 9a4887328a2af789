import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { fakeStdio } from "../fixtures/fake/index.ts";
import type { Fields } from "./clients/client.ts";
import { until } from "./http/open-front.ts";
import { openPipe } from "./open-pipe.ts";
import { openUpstream } from "./upstreams.ts";

const eras = ["legacy", "modern"] as const;
const pairs = eras.flatMap((client) => eras.map((server) => [client, server] as const));
const accepted = { action: "accept", content: { name: "Ada" } };

describe.each(pairs)("M80 M81 a %s client before a %s server", (era, versions) => {
  it("lists, calls and answers questions", async () => {
    await using served = await openPipe({ one: fakeStdio({ versions }) });
    const client = await served.connect(era, { capabilities: { elicitation: {} }, answer: () => accepted });
    const { tools } = (await client.result(client.request("tools/list"))) as { tools: Fields[] };
    expect(tools.map(({ name }) => name)).toContain("one__echo");
    const result = await client.result(client.call("one__elicit", { message: "Who?" }));
    expect(result).toMatchObject({ structuredContent: { answers: [accepted] } });
  });
});

describe.each(eras)("M81 the state that a modern client carries for a %s server", (versions) => {
  it("is refused when it was changed or comes with another call", async () => {
    await using served = await openPipe({ one: fakeStdio({ versions }) });
    const client = await served.connect("modern", { capabilities: { elicitation: {} } });
    const params = { name: "one__elicit", arguments: { message: "Who?" } };
    const { requestState } = await client.result(client.once("tools/call", params));
    const refused = async (changes: Fields) => {
      const { error } = await client.once("tools/call", { ...params, requestState, ...changes }).answer;
      expect(error).toMatchObject({ code: -32_602 });
    };
    await refused({ requestState: `${String(requestState).slice(0, -2)}AA` });
    await refused({ arguments: { message: "Else?" } });
    await refused({ name: "one__sample" });
  });
});

describe("M80 names", () => {
  it("are the server's own for an endpoint of one server with plain names", async () => {
    await using served = await openPipe({ one: fakeStdio({}) }, { names: { style: "plain" } });
    const client = await served.connect("legacy");
    const result = await client.result(client.call("add", { a: 1, b: 2 }));
    expect(result).toMatchObject({ structuredContent: { sum: 3 } });
  });

  it("are suggested where one is misspelt", async () => {
    await using served = await openPipe({ one: fakeStdio({}) });
    const client = await served.connect("legacy");
    const { error } = await client.call("one__ecko").answer;
    expect(error).toMatchObject({ code: -32_602, data: { near: ["one__echo"] } });
  });
});

describe("M80 a pipe", () => {
  it("goes on after a message that is too long, and after a mistake inside of a batch", async () => {
    await using served = await openPipe({ one: fakeStdio() });
    const [input, output] = [new PassThrough(), new PassThrough()];
    const done = served.gateway.serveStdio({ input, output });
    const received = output.setEncoding("utf8").toArray() as Promise<string[]>;
    const piece = Buffer.alloc(1024 * 1024, "a");
    for (let count = 0; count < 70; count++) input.write(piece);
    const ping = (id: number) => JSON.stringify({ jsonrpc: "2.0", id, method: "ping" });
    input.write(`\n${ping(1)}\n[${ping(2)},{"jsonrpc":"2.0","id":3,"method":7},${ping(4)}]\n`);
    input.end();
    await done;
    output.end();
    const answers = (await received).join("").trim().split("\n");
    expect(answers.map((line) => JSON.parse(line) as Fields)).toMatchObject([
      { id: null, error: { code: -32_600, message: "A message has at most 67108864 bytes." } },
      { id: 1, result: {} },
      { id: 2, result: {} },
      { id: 3, error: { code: -32_600 } },
      { id: 4, result: {} },
    ]);
  });

  it("hears what a modern client says with the revision in it: cancellation and notifications", async () => {
    await using upstream = await openUpstream("legacy-memory");
    await using served = await openPipe({ one: upstream.entry });
    const [input, output] = [new PassThrough(), new PassThrough()];
    const done = served.gateway.serveStdio({ input, output });
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const say = (message: Fields, params: Fields) =>
      input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message, params: { ...params, _meta } })}\n`);
    const heard = (method: string) =>
      until(() => upstream.heard().some(({ message }) => message.method === method));
    say({ id: 1, method: "tools/call" }, { name: "one__sleep", arguments: { ms: 600_000 } });
    await heard("tools/call");
    say({ method: "notifications/acme" }, {});
    await heard("notifications/acme");
    say({ method: "notifications/cancelled" }, { requestId: 1 });
    await heard("notifications/cancelled");
    input.end();
    await done;
  });
});
