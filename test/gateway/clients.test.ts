import { spawn } from "node:child_process";
import { describe, expect, onTestFinished, test } from "vitest";
import { fakeStdio, type Script, startFakeHttp } from "../fixtures/fake/index.ts";
import { openHub } from "../servers/hub-fixture.ts";
import type { ClientOptions, Era, TestClient } from "./clients/client.ts";
import { HttpWire } from "./clients/http-wire.ts";
import { subscriptionOf } from "./clients/modern-client.ts";
import { openClient } from "./clients/open-client.ts";
import { StdioWire } from "./clients/stdio-wire.ts";
import { openUpstream, richScript, upstreamKinds } from "./upstreams.ts";

type Open = (script: Script, options: ClientOptions & { era: Era }) => Promise<TestClient>;

const openHttp: Open = async (script, { era, ...options }) => {
  const fake = await startFakeHttp(script);
  onTestFinished(() => fake.close());
  return openClient(era, new HttpWire({ url: fake.url }), options);
};

const openStdio: Open = async (script, { era, ...options }) => {
  const { command, args, env } = fakeStdio(script);
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ["pipe", "pipe", "ignore"] });
  onTestFinished(() => void child.kill());
  return openClient(era, new StdioWire(child.stdin, child.stdout), options);
};

const subjects: [Era, string, Open][] = [
  ["legacy", "http", openHttp],
  ["modern", "http", openHttp],
  ["legacy", "stdio", openStdio],
  ["modern", "stdio", openStdio],
];

/** The clients of the matrix have to be right before they can say anything about a gateway. */
describe.each(subjects)("a %s test client over %s", (era, _transport, open) => {
  const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
  const everything = async (answer?: ClientOptions["answer"]): Promise<TestClient> => {
    const client = await open(richScript("plain", era), { era, capabilities, ...(answer && { answer }) });
    onTestFinished(() => client.disconnect());
    return client;
  };

  test("calls a tool, and sees the answer as it came", async () => {
    const client = await everything();
    const { result, text } = await client.call("faithful").answer;
    expect(result).toMatchObject({ unknown: { kept: ["as", "is"] } });
    expect(text).toContain('"big":9007199254740993,"exact":1.10');
    expect(await client.call("refuse").answer).toMatchObject({ error: { code: -32_050 } });
  });

  test("answers questions, several at once and round after round", async () => {
    const client = await everything((method) =>
      method === "elicitation/create"
        ? { action: "accept", content: { name: "Ada" } }
        : { role: "assistant", content: { type: "text", text: "hi" }, model: "m" },
    );
    const rounds = await client.result(client.call("elicit", { rounds: 3 }));
    expect(rounds["structuredContent"]).toMatchObject({ answers: [{}, {}, { content: { name: "Ada" } }] });
    const both = await client.result(client.call("both"));
    expect(both["structuredContent"]).toMatchObject({ person: { action: "accept" }, model: { model: "m" } });
    expect(client.questions()).toHaveLength(5);
    const prompt = await client.result(client.request("prompts/get", { name: "ask" }));
    expect(JSON.stringify(prompt)).toContain("ask for Ada");
  });

  test("sees progress with its own token, and log messages from its level on", async () => {
    const client = await everything();
    await client.result(client.call("progress", { steps: 2 }, { progressToken: "mine" }));
    const progress = client.notifications("notifications/progress").map(({ params }) => params);
    expect(progress).toMatchObject([
      { progressToken: "mine", progress: 1 },
      { progressToken: "mine", progress: 2 },
    ]);
    await client.setLogLevel("alert");
    await client.result(client.call("log"));
    expect(client.notifications("notifications/message").map(({ params }) => params?.["level"])).toEqual([
      "alert",
      "emergency",
    ]);
  });

  test("hears of changes that it listens to", async () => {
    const client = await everything();
    await client.listen({ tools: true, uris: ["fake://plain/readme"] });
    await client.result(client.call("change", { what: "tools" }));
    await client.result(client.call("change", { what: "fake://plain/readme" }));
    await client.result(client.call("change", { what: "fake://plain/ask" }));
    const tools = await client.sees(
      "a change",
      ({ method }) => method === "notifications/tools/list_changed",
    );
    expect(subscriptionOf(tools.params) !== undefined).toBe(era === "modern");
    await client.sees("an update", ({ method }) => method === "notifications/resources/updated");
    expect(client.notifications("notifications/resources/updated")).toHaveLength(1);
  });

  test("cancels a request", async () => {
    const client = await everything();
    const slow = client.call("sleep", { ms: 60_000 });
    await client.result(client.call("echo"));
    slow.cancel();
    for (let turn = 0; turn < 500; turn++) {
      const { structuredContent } = await client.result(client.call("cancelled"));
      if ((structuredContent as { ids: unknown[] }).ids.includes(slow.id)) return;
    }
    throw new Error("the server was not told");
  });
});

test.each(upstreamKinds)("the %s upstream records what it hears", async (kind) => {
  await using upstream = await openUpstream(kind);
  await using hub = await openHub({ it: upstream.entry });
  await hub.forwardCall("it.faithful", { arguments: { a: 1 } });
  const calls = upstream.heard().filter(({ message }) => message.method === "tools/call");
  expect(calls).toMatchObject([{ message: { params: { name: "faithful", arguments: { a: 1 } } } }]);
  expect(upstream.heard().some(({ message }) => message.method === "initialize")).toBe(
    upstream.era === "legacy",
  );
});
