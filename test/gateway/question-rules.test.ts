import { describe, expect, it } from "vitest";
import { fakeStdio } from "../fixtures/fake/index.ts";
import type { Script } from "../fixtures/fake/index.ts";
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
