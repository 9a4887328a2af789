import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fakeStdio } from "../fixtures/fake/index.ts";
import type { Fields } from "./clients/client.ts";
import { openPipe } from "./open-pipe.ts";

const program = join(import.meta.dirname, "..", "..", "scripts", "conformance", "everything", "main.ts");
/** It asks only clients that declared that they can answer. */
const everything = { command: process.execPath, args: [program, "legacy"] };
const plain = { names: { style: "plain" } } as const;

describe("M81 a legacy server that asks a modern client", () => {
  it("asks several things at once in one answer", async () => {
    await using served = await openPipe({ everything }, plain);
    const capabilities = { elicitation: {}, sampling: {}, roots: {} };
    const client = await served.connect("modern", { capabilities });
    const name = "test_input_required_result_multiple_inputs";
    const { inputRequests } = await client.result(client.once("tools/call", { name }));
    const methods = Object.values(inputRequests as Record<string, Fields>).map(({ method }) => method);
    expect(methods).toEqual(["elicitation/create", "sampling/createMessage", "roots/list"]);
  });

  it("keeps no other call waiting while the client has not come back", async () => {
    await using served = await openPipe({ everything }, plain);
    const client = await served.connect("modern", {
      capabilities: { elicitation: {} },
      answer: () => ({ action: "accept", content: { username: "ada", email: "ada@example.com" } }),
    });
    const ask = { name: "test_elicitation", arguments: { message: "Who?" } };
    const abandoned: Fields[] = [];
    for (let count = 0; count < 3; count++)
      abandoned.push(await client.result(client.once("tools/call", ask)));
    const plainCall = await client.result(client.call("test_simple_text"));
    expect(plainCall).toMatchObject({ resultType: "complete" });
    const asked = await client.result(client.call("test_elicitation", { message: "And you?" }));
    expect(JSON.stringify(asked)).toContain("ada@example.com");
    for (const { inputRequests, requestState } of abandoned) {
      const [key = ""] = Object.keys(inputRequests as Fields);
      const late = { action: "accept", content: { username: "late", email: "late@example.com" } };
      const again = { ...ask, requestState, inputResponses: { [key]: late } };
      expect(JSON.stringify(await client.result(client.once("tools/call", again)))).toContain(
        "late@example.com",
      );
    }
  });

  it("keeps no other call waiting either where the client has answered only a part", async () => {
    await using served = await openPipe({ everything }, plain);
    const capabilities = { elicitation: {}, sampling: {}, roots: {} };
    const client = await served.connect("modern", { capabilities });
    const ask = { name: "test_input_required_result_multiple_inputs" };
    // The first question shows that the server asks; from then on calls take turns.
    for (let count = 0; count < 2; count++) {
      const { inputRequests, requestState } = await client.result(client.once("tools/call", ask));
      const [first = ""] = Object.keys(inputRequests as Fields);
      const inputResponses = { [first]: { action: "accept", content: { name: "Ada" } } };
      const again = { ...ask, requestState, inputResponses };
      const rest = await client.result(client.once("tools/call", again));
      expect(Object.keys(rest["inputRequests"] as Fields)).toHaveLength(2);
    }
    const other = await client.result(client.once("tools/call", { name: "test_simple_text" }));
    expect(other).toMatchObject({ resultType: "complete" });
  });

  it("can ask again, however many questions clients have left unanswered", async () => {
    await using served = await openPipe({ one: fakeStdio({ versions: "legacy", rare: true }) });
    const client = await served.connect("modern", {
      capabilities: { elicitation: {}, sampling: {} },
      answer: () => ({ action: "accept", content: { name: "Ada" } }),
    });
    // Two questions each.
    for (let count = 0; count < 70; count++) await client.once("tools/call", { name: "one__both" }).answer;
    await client.result(client.call("one__echo"));
    const answered = await client.result(client.call("one__elicit"));
    expect(JSON.stringify(answered)).toContain("Ada");
  });

  it("fails with the capability that the client lacks, if it cannot do without", async () => {
    await using served = await openPipe({ everything }, plain);
    const client = await served.connect("modern", { capabilities: { elicitation: {} } });
    const { error } = await client.once("tools/call", { name: "test_missing_capability" }).answer;
    expect(error).toMatchObject({ code: -32_021, data: { requiredCapabilities: { sampling: {} } } });
  });
});

describe("M80 what a client nests too deeply", () => {
  const nested = (levels: number) => `${"[".repeat(levels)}1.5${"]".repeat(levels)}`;
  const script = { versions: "legacy" as const, prompts: [{ name: "ask" }] };

  it("is refused, also where the server would ask something", async () => {
    await using served = await openPipe({ one: fakeStdio(script) });
    const client = await served.connect("modern", { capabilities: { elicitation: {} } });
    for (const levels of [1_000, 3_000, 20_000]) {
      const rawParams = `{"name":"one__ask","deep":${nested(levels)}}`;
      const { error } = await client.once("prompts/get", { name: "one__ask" }, { rawParams }).answer;
      expect(error).toMatchObject({ code: -32_602, message: "`params` is nested deeper than 500 levels." });
    }
    const asked = await client.result(client.once("prompts/get", { name: "one__ask" }));
    expect(asked).toMatchObject({ resultType: "input_required" });
  });

  it("is no answer: the server that asked hears so", async () => {
    await using served = await openPipe({ one: fakeStdio(script) });
    const unanswered = () => new Promise<Fields>(() => undefined);
    const client = await served.connect("legacy", { capabilities: { sampling: {} }, answer: unanswered });
    const sent = client.call("one__sample");
    const { id } = await client.sees("the question", ({ kind }) => kind === "question");
    const text = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"deep":${nested(20_000)}}}`;
    await client.wire.send(text, { stream: "aside" });
    expect((await sent.answer).error?.message).toContain("nested deeper");
  });
});

it("M81 a server on a pipe asks at most 64 questions at once during a call", async () => {
  const request = { method: "elicitation/create", params: { message: "Who?" } };
  const questions = Array.from({ length: 70 }, () => ({ request, wait: false }));
  const on = [{ when: { tool: "echo" }, do: [...questions, { answer: { content: [] } }] }];
  await using served = await openPipe({ one: fakeStdio({ versions: "legacy", on }) });
  const answer = () => new Promise<Fields>(() => undefined);
  const client = await served.connect("legacy", { capabilities: { elicitation: {} }, answer });
  await client.result(client.call("one__echo"));
  expect(client.questions()).toHaveLength(64);
});

it("M81 a server that connected before the first client came can ask that client", async () => {
  await using served = await openPipe({ everything }, plain);
  expect(served.hub.status()).toMatchObject([{ state: "connected" }]);
  const client = await served.connect("legacy", {
    capabilities: { sampling: {} },
    answer: () => ({ role: "assistant", content: { type: "text", text: "Hi." }, model: "none" }),
  });
  const result = await client.result(client.call("test_sampling", { prompt: "Say hi." }));
  expect(result).toMatchObject({ content: [{ text: "LLM response: Hi." }] });
});

describe.each(["legacy", "modern"] as const)("M81 a %s client that cannot be asked", (era) => {
  it.each(["legacy", "modern"] as const)(
    "is not answered for by the hub, before a %s server",
    async (versions) => {
      const asked: string[] = [];
      const elicit = async (question: { message: string }) => {
        asked.push(question.message);
        return { action: "accept", content: { name: "Eve" } } as const;
      };
      const servers = { one: fakeStdio({ versions }), two: fakeStdio({ versions }) };
      await using served = await openPipe(servers, { hub: { interact: { elicit } } });
      const client = await served.connect(era);
      const { error } = await client.call("one__elicit", { message: "Who?" }).answer;
      expect(error?.message).toContain("elicitation");
      expect(asked).toEqual([]);
    },
  );
});
