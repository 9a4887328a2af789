import { describe, expect, it, onTestFinished } from "vitest";
import { createDemoServer } from "../../src/cli/serve/demo-server.ts";
import { createHub } from "../../src/index.ts";
import type { Interact } from "../../src/index.ts";

async function openDemo(interact: Interact = {}) {
  const hub = await createHub({ servers: { demo: { server: createDemoServer() } } }, { interact });
  onTestFinished(() => hub.close());
  return hub;
}

const text = (value: string) => ({ content: [{ type: "text", text: value }] });

describe("M80 the built-in demo", () => {
  it("offers tools, a resource and a prompt, which work", async () => {
    const hub = await openDemo();
    expect((await hub.tools()).map(({ name }) => name)).toEqual(["ask_me", "count_words", "greet"]);
    expect(await hub.callTool("mcp__demo__greet", { name: "Ada" })).toMatchObject(text("Hello, Ada!"));
    expect(await hub.callTool("mcp__demo__count_words", { text: "two words" })).toMatchObject({
      structuredContent: { words: 2, characters: 9 },
    });
    expect(await hub.readResource("demo", "demo://about")).toMatchObject({
      contents: [{ text: expect.stringContaining("plugboard add") as string }],
    });
    expect(await hub.getPrompt("demo.introduce", { name: "Ada" })).toMatchObject({
      messages: [{ content: { text: expect.stringContaining("Greet Ada") as string } }],
    });
  });

  it("asks a person, and takes no for an answer", async () => {
    const yes = await openDemo({ elicit: async () => ({ action: "accept", content: { colour: "green" } }) });
    expect(await yes.callTool("mcp__demo__ask_me")).toMatchObject(text("You like green."));
    const no = await openDemo({ elicit: async () => ({ action: "decline" }) });
    expect(await no.callTool("mcp__demo__ask_me")).toMatchObject(text("You did not want to say."));
  });

  it("says so if the client cannot ask", async () => {
    const hub = await openDemo();
    expect(await hub.callTool("mcp__demo__ask_me")).toMatchObject(
      text("This client cannot show questions of servers, so nobody was asked."),
    );
  });
});
