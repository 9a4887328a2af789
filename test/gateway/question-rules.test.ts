import { describe, expect, it } from "vitest";
import { fakeStdio, readFakeLog } from "../fixtures/fake/index.ts";
import type { Script } from "../fixtures/fake/index.ts";
import { createSandbox } from "../sandbox.ts";
import type { Servers } from "../servers/hub-fixture.ts";
import type { ClientOptions, Fields } from "./clients/client.ts";
import { openPipe } from "./open-pipe.ts";

const capabilities = {
  elicitation: { form: {}, url: {} },
  sampling: {},
  extensions: { "io.modelcontextprotocol/tasks": {} },
};
const declining = (script: Script): Servers => ({
  it: { ...fakeStdio(script), elicitation: "decline" },
  other: fakeStdio({}),
});
const eras = ["legacy", "modern"] as const;
const pairs = eras.flatMap((client) => eras.map((server) => ({ client, server })));

describe("M81 a modern client's answer to the form of a modern server", () => {
  const fields = { name: { type: "string", minLength: 2 }, age: { type: "integer" } };
  const schema = { type: "object", properties: fields, required: ["name"] };
  const wrong: Fields[] = [{}, { name: 7 }, { name: "A" }, { name: "Ada", age: "old" }];

  it("is sent only if it matches; after a mistake the client can answer again", async () => {
    const box = createSandbox();
    const log = box.path("home/log");
    await using served = await openPipe({ it: fakeStdio({ versions: "modern", log }), other: fakeStdio({}) });
    const client = await served.connect("modern", { capabilities });
    const ask = { name: "it__elicit", arguments: { schema } };
    const { inputRequests, requestState } = await client.result(client.once("tools/call", ask));
    const [key = ""] = Object.keys(inputRequests as Fields);
    const answer = (response: Fields) =>
      client.once("tools/call", { ...ask, requestState, inputResponses: { [key]: response } }).answer;
    const before = readFakeLog(log).length;
    for (const content of wrong)
      expect(await answer({ action: "accept", content })).toMatchObject({
        error: { code: -32_602, message: expect.stringContaining("does not match its form") as string },
      });
    expect(await answer({ action: "accept" })).toMatchObject({ error: { code: -32_602 } });
    expect(readFakeLog(log)).toHaveLength(before);
    const good = { action: "accept", content: { name: "Ada", age: 36 } };
    expect(await answer(good)).toMatchObject({ result: { structuredContent: { answers: [good] } } });
    const declined = { action: "decline" };
    expect(await answer(declined)).toMatchObject({ result: { structuredContent: { answers: [declined] } } });
  });

  it("passes unchecked if the form is too large to carry around", async () => {
    await using served = await openPipe({ it: fakeStdio({ versions: "modern" }), other: fakeStdio({}) });
    const client = await served.connect("modern", { capabilities });
    const large = { ...schema, description: "x".repeat(70_000) };
    const ask = { name: "it__elicit", arguments: { schema: large } };
    const { inputRequests, requestState } = await client.result(client.once("tools/call", ask));
    expect(String(requestState).length).toBeLessThan(10_000);
    const [key = ""] = Object.keys(inputRequests as Fields);
    const response = { action: "accept", content: {} };
    const again = { ...ask, requestState, inputResponses: { [key]: response } };
    expect(await client.result(client.once("tools/call", again))).toMatchObject({
      structuredContent: { answers: [response] },
    });
  });
});

/** What to do when asked, and the methods of all questions. */
function listener(): ClientOptions & { asked: string[] } {
  const asked: string[] = [];
  const answer = (method: string): Fields => {
    asked.push(method);
    if (method === "sampling/createMessage")
      return { role: "assistant", content: { type: "text", text: "Hi." }, model: "none" };
    return { action: "accept", content: { name: "Ada", confirm: true } };
  };
  return { capabilities, answer, asked };
}

describe.each(pairs)(
  "M81 the questions of a $server server to a $client client",
  ({ client: era, server }) => {
    it("are declined where the configuration says so, and the other ones are asked", async () => {
      await using served = await openPipe(declining({ versions: server, rare: true }));
      const options = listener();
      const client = await served.connect(era, options);
      const declined = { action: "decline" };
      const form = await client.result(client.call("it__elicit", { rounds: 3 }));
      expect(form).toMatchObject({ structuredContent: { answers: [declined, declined, declined] } });
      expect(options.asked).toEqual([]);
      const both = await client.result(client.call("it__both"));
      expect(both).toMatchObject({ structuredContent: { person: declined, model: { model: "none" } } });
      expect(options.asked).toEqual(["sampling/createMessage"]);
    });

    it("show no page that is not safe", async () => {
      await using served = await openPipe({ it: fakeStdio({ versions: server }), other: fakeStdio({}) });
      const options = listener();
      const client = await served.connect(era, options);
      const { text } = await client.call("it__elicit", { url: "javascript:alert(1)" }).answer;
      expect(text).toContain("The URL is not safe to show");
      expect(text).not.toContain("javascript:");
      // That is advice for the command line.
      expect(text).not.toContain("in a terminal");
      await client.result(client.call("it__elicit", { url: "https://example.com/" }));
      expect(options.asked).toEqual(["elicitation/create"]);
    });
  },
);

describe.each(eras)("M81 the pages that a legacy server wants a %s client to open", (era) => {
  const wanting = (url: string): Script => {
    const page = { mode: "url", elicitationId: "one", url, message: "There" };
    const error = { code: -32_042, message: "Log in first", data: { elicitations: [page] } };
    return { versions: "legacy", on: [{ when: { tool: "echo", nth: 1 }, do: [{ error }] }] };
  };
  const cases: [string, Servers][] = [
    ["the configuration declines its questions", declining(wanting("https://example.com/"))],
    ["they are not safe", { it: fakeStdio(wanting("javascript:alert(1)")), other: fakeStdio({}) }],
  ];
  it.each(cases)("are not told to the client if %s", async (_, servers) => {
    await using served = await openPipe(servers);
    const options = listener();
    const client = await served.connect(era, options);
    const { result, text } = await client.call("it__echo").answer;
    expect(result).toMatchObject({
      isError: true,
      _meta: { "plugboard/error": { code: "question-declined" } },
    });
    expect(text).not.toMatch(/example\.com|javascript/);
    expect(options.asked).toEqual([]);
  });
});

it("M55 the questions of a task are declined where the configuration says so", async () => {
  await using served = await openPipe(declining({ versions: "modern", tasks: {} }));
  const client = await served.connect("modern", listener());
  const { taskId } = await client.result(client.call("it__confirm_delete", { filename: "a.txt" }));
  let task: Fields = {};
  while (task["status"] !== "completed") {
    task = await client.result(client.once("tasks/get", { taskId }));
    expect(task).not.toHaveProperty("inputRequests");
  }
  expect(task).toMatchObject({ result: { content: [{ text: "kept a.txt" }] } });
});
