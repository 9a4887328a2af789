import Anthropic from "@anthropic-ai/sdk";
import { expect, it } from "vitest";
import { anthropicMentions, anthropicPrompt, anthropicTools } from "../../src/adapters/anthropic.ts";
import { startModel } from "../fixtures/model/index.ts";
import { adapterContract } from "./contract.ts";
import type { AgentTask } from "./contract.ts";
import { openScene } from "./scene.ts";

const clientAt = (url: string) => new Anthropic({ baseURL: url, apiKey: "any", maxRetries: 0 });
const common = { model: "scripted", max_tokens: 100 };

async function run({ view, url, stream, options, signal }: AgentTask): Promise<string> {
  const { tools, answer, instructions } = await anthropicTools(view, options);
  const client = clientAt(url);
  const messages: Anthropic.MessageParam[] = [{ role: "user", content: "Do it." }];
  for (;;) {
    const asked = { ...common, system: instructions, messages, tools };
    const message = stream
      ? await client.messages.stream(asked, { signal }).finalMessage()
      : await client.messages.create(asked, { signal });
    const answers = await answer(message, { signal });
    if (answers.length === 0)
      return message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
    signal?.throwIfAborted();
    messages.push({ role: "assistant", content: message.content }, { role: "user", content: answers });
  }
}

adapterContract({
  name: "anthropic",
  canGrow: true,
  asksItself: false,
  hasMedia: true,
  modes: ["whole", "stream"],
  run,
  setAside: async (view) => (await anthropicTools(view)).setAside.map(({ id }) => id),
  async say({ view, url, prompt, args, text }) {
    const messages = await anthropicPrompt(view, prompt, args);
    const content = await anthropicMentions(view, text);
    await clientAt(url).messages.create({ ...common, messages: [...messages, { role: "user", content }] });
  },
});

it("M64 plugboard/anthropic ends the SDK's tool runner when a person cancels the turn", async () => {
  await using hub = await openScene();
  await using model = await startModel([
    { calls: [{ tool: "mcp__careful__add", args: { a: 1, b: 2 } }] },
    { text: "I go on." },
  ]);
  const { tools } = await anthropicTools(
    hub.view({ interact: { approve: async () => ({ decision: "cancel" }) } }),
  );
  const messages = [{ role: "user" as const, content: "Add." }];
  const runner = clientAt(model.url).beta.messages.toolRunner({ ...common, messages, tools });
  await expect(runner.runUntilDone()).rejects.toMatchObject({ code: "call-cancelled", endsTurn: true });
  expect(model.received).toHaveLength(1);
});

it("M64 plugboard/anthropic works with the SDK's tool runner", async () => {
  await using hub = await openScene();
  await using model = await startModel([
    { calls: [{ tool: "mcp__it__add", args: { a: 1, b: 2 } }] },
    { text: "Three." },
  ]);
  const { tools } = await anthropicTools(hub);
  const messages = [{ role: "user" as const, content: "Add." }];
  const runner = clientAt(model.url).beta.messages.toolRunner({ ...common, messages, tools });
  const last = await runner.runUntilDone();
  expect(last.content).toMatchObject([{ type: "text", text: "Three." }]);
  expect([...(model.received[1]?.results.values() ?? [])]).toMatchObject([{ text: '{"sum":3}' }]);
});
