import OpenAI from "openai";
import {
  openAiChatMentions,
  openAiChatPrompt,
  openAiChatTools,
  openAiResponsesMentions,
  openAiResponsesPrompt,
  openAiResponsesTools,
} from "../../src/adapters/openai.ts";
import { adapterContract } from "./contract.ts";
import type { AgentTask } from "./contract.ts";

const clientAt = (url: string) => new OpenAI({ baseURL: `${url}/v1`, apiKey: "any", maxRetries: 0 });
const model = "scripted";

async function chat({ view, url, stream, options, signal }: AgentTask): Promise<string> {
  const { tools, answer, instructions } = await openAiChatTools(view, options);
  const client = clientAt(url);
  const messages: OpenAI.Chat.Completions.ChatCompletionMessageParam[] = [
    { role: "system", content: instructions },
    { role: "user", content: "Do it." },
  ];
  for (;;) {
    const asked = { model, messages, tools };
    const { choices } = stream
      ? await client.chat.completions.stream(asked, { signal }).finalChatCompletion()
      : await client.chat.completions.create(asked, { signal });
    const message = choices[0]?.message;
    if (!message) throw new Error("no answer");
    const answers = await answer(message, { signal });
    if (answers.length === 0) return message.content ?? "";
    signal?.throwIfAborted();
    messages.push(message, ...answers);
  }
}

async function responses({ view, url, stream, options, signal }: AgentTask): Promise<string> {
  const { tools, answer, instructions } = await openAiResponsesTools(view, options);
  const client = clientAt(url);
  const input: OpenAI.Responses.ResponseInputItem[] = [{ role: "user", content: "Do it." }];
  for (;;) {
    const asked = { model, input, tools, instructions };
    const response = stream
      ? await client.responses.stream(asked, { signal }).finalResponse()
      : await client.responses.create(asked, { signal });
    const answers = await answer(response, { signal });
    if (answers.length === 0) return response.output_text;
    signal?.throwIfAborted();
    input.push(...(response.output as OpenAI.Responses.ResponseInputItem[]), ...answers);
  }
}

const common = { canGrow: true, asksItself: false, hasMedia: true, modes: ["whole", "stream"] as const };

adapterContract({
  ...common,
  name: "openai, Chat Completions",
  run: chat,
  setAside: async (view) => (await openAiChatTools(view)).setAside.map(({ id }) => id),
  async say({ view, url, prompt, args, text }) {
    const messages = await openAiChatPrompt(view, prompt, args);
    const content = await openAiChatMentions(view, text);
    const asked = { model, messages: [...messages, { role: "user" as const, content }] };
    await clientAt(url).chat.completions.create(asked);
  },
});

adapterContract({
  ...common,
  name: "openai, Responses",
  run: responses,
  setAside: async (view) => (await openAiResponsesTools(view)).setAside.map(({ id }) => id),
  async say({ view, url, prompt, args, text }) {
    const items = await openAiResponsesPrompt(view, prompt, args);
    const content = await openAiResponsesMentions(view, text);
    await clientAt(url).responses.create({ model, input: [...items, { role: "user", content }] });
  },
});
