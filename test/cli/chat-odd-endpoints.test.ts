import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { chatScene, modelKey } from "./chat-scene.ts";

const chunk = (delta: object, reason: string | null = null) => ({
  id: "x",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices: [{ index: 0, delta, finish_reason: reason }],
});

/** An endpoint that sends these answers as they are, one for each request. */
async function oddEndpoint(...answers: ((response: ServerResponse) => void)[]): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().once("end", () => answers.shift()?.(response));
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

const streamed = (...events: (object | string)[]) => raw("text/event-stream", ...events);

function raw(type: string, ...events: (object | string)[]) {
  return (response: ServerResponse) => {
    response.writeHead(200, { "content-type": type });
    for (const event of events)
      response.write(`data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`);
    response.end();
  };
}

const plain = (type: string, text: string) => (response: ServerResponse) =>
  void response.writeHead(200, { "content-type": type }).end(text);

describe("M66 an endpoint that does not behave", () => {
  it.each([
    [
      "an error in the stream",
      streamed(chunk({ content: "Hel" }), { error: { message: `overloaded \u001b[31m ${modelKey}` } }),
      "reported an error: overloaded \\u001b[31m (hidden)",
    ],
    [
      "an error instead of a stream",
      plain("application/json", '{"error":{"message":"too long"}}'),
      "reported an error: too long",
    ],
    ["a web page", plain("text/html; charset=utf-8", "<html>log in</html>"), "answered with a web page"],
    [
      "an answer that is not streamed",
      plain("application/json", '{"choices":[{"message":{"content":"hi"}}]}'),
      "answered with something that is not streamed",
    ],
    ["nonsense", streamed("{bad json"), "sent something that is not an answer in openai's format"],
    [
      "a redirect",
      (response: ServerResponse) =>
        void response.writeHead(307, { location: "http://elsewhere.example/v1" }).end(),
      "redirects to http://elsewhere.example. Redirects are not followed",
    ],
    [
      "an end without a reason",
      streamed(chunk({ content: "Complete." }), "[DONE]"),
      "ended its answer without saying whether it is complete",
    ],
  ])("is described by what it did: %s", async (_what, answer, words) => {
    const { events } = await chatScene([], { config: { chat: { url: await oddEndpoint(answer) } } });
    const run = await events(["Hello."]);
    const end = run.events.at(-1);
    expect(end).toMatchObject({ type: "end", outcome: "failed" });
    expect(JSON.stringify(end)).toContain(JSON.stringify(words).slice(1, -1).replace("\\\\u001b", "\\u001b"));
    expect(JSON.stringify(end)).not.toContain(modelKey);
    expect(run.code).toBe(words.startsWith("redirects") ? 6 : 5);
  });

  it("may stream under a wrong type, and say stop after calls", async () => {
    const call = {
      index: 0,
      id: "c1",
      type: "function",
      function: { name: "mcp__it__add", arguments: '{"a":1,"b":2}' },
    };
    const url = await oddEndpoint(
      raw("application/json", chunk({ role: "assistant", tool_calls: [call] }), chunk({}, "stop"), "[DONE]"),
      streamed(chunk({ content: "Three." }), chunk({}, "stop"), "[DONE]"),
    );
    const { chat } = await chatScene([], { config: { chat: { url } } });
    expect(await chat(["Add."])).toMatchObject({ code: 0, out: "Three.\n" });
  });

  it("never gets a key that no header can carry, and nobody reads it", async () => {
    const { box, chat } = await chatScene([]);
    box.env["MODEL_KEY"] = "sk–secret";
    const { code, err } = await chat(["Hello."]);
    expect(code).toBe(6);
    expect(err).toContain("contains characters that cannot be sent in a header");
    expect(err).not.toContain("secret");
  });
});
