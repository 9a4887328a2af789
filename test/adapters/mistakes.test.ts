import { describe, expect, it } from "vitest";
import { anthropicMentions, anthropicPrompt, anthropicTools } from "../../src/adapters/anthropic.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { ListServer, hubOf, named } from "../catalog/list-server.ts";

const odd = { toString: 1, valueOf: 1 };
const use = (name: string, input: unknown, id = name) => ({ type: "tool_use", id, name, input }) as never;

describe("M64 mistakes of models and programs", () => {
  it("one call that is all wrong does not lose the results of the others", async () => {
    const hub = await hubOf(
      { it: new ListServer({ tools: named("t") }).entry },
      { env: {} },
      { toolSearch: true },
    );
    const { answer } = await anthropicTools(hub);
    const content = [
      use("mcp__it__t", {}),
      use("read_result", { handle: "x", select: [odd] }),
      use("read_result", { handle: "x", page: odd }),
      use("search_tools", { query: "t", limit: odd }),
      use("x".repeat(1_000_000), {}),
    ];
    const results = await answer({ content });
    expect(results.map(({ is_error }) => is_error === true)).toEqual([false, true, true, false, true]);
    expect(results[1]?.content).toContain("`select` must be a list of JSON pointers");
    expect(results[2]?.content).toContain("`page` must be a whole number");
    expect(JSON.stringify(results[4]?.content).length).toBeLessThan(1_000);
  });

  it("a listener of progress that rejects disturbs nothing", async () => {
    const rejected: unknown[] = [];
    const hear = (error: unknown) => rejected.push(error);
    process.on("unhandledRejection", hear);
    const hub = await hubOf({ it: fakeStdio({}) }, { env: {} }, { toolSearch: false });
    let heard = 0;
    // A program in JavaScript may pass what the types do not allow.
    const onProgress: unknown = () => Promise.reject(new Error(`broken ${++heard}`));
    const { call } = await anthropicTools(hub, { onProgress: onProgress as () => undefined });
    const result = await call({ id: "1", name: "mcp__it__progress", input: { steps: 2 } });
    await new Promise((resolve) => setImmediate(resolve));
    process.off("unhandledRejection", hear);
    expect(result.is_error).toBeUndefined();
    expect(heard).toBe(2);
    expect(rejected).toEqual([]);
  });

  it("a closed hub is said to be closed, and its servers are not called untrusted", async () => {
    const hub = await hubOf(
      { it: new ListServer({ tools: named("t") }).entry },
      { env: {} },
      { toolSearch: false },
    );
    const { call } = await anthropicTools(hub);
    await hub.close();
    const { content } = await call({ id: "1", name: "mcp__it__t", input: {} });
    expect(content).toMatch(/closed\. No further call can be made\.$/);
    expect(content).not.toContain("untrusted");
  });

  it("prompts and mentions of any length are cut", async () => {
    const server = new ListServer({ prompts: named("p"), resources: [{ uri: "x://a", name: "a" }] });
    const text = "word ".repeat(1_000_000);
    server.answers.set("prompts/get", () => ({
      messages: [1, 2].map(() => ({ role: "user", content: { type: "text", text } })),
    }));
    server.answers.set("resources/read", () => ({ contents: [{ uri: "x://a", text }] }));
    const hub = await hubOf({ it: server.entry }, { env: {} });
    const messages = JSON.stringify(await anthropicPrompt(hub, "it.p"));
    expect(messages.length).toBeLessThan(200_000);
    expect(messages).toMatch(/\[Cut: 5000000 characters are left out\]/);
    const mentioned = JSON.stringify(await anthropicMentions(hub, "See @it:x://a", { maxTokens: 100 }));
    expect(mentioned.length).toBeLessThan(1_000);
    expect(mentioned).toContain("[Cut: ");
  });
});
