import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, stepCountIs, streamText } from "ai";
import type { LanguageModel, ModelMessage } from "ai";
import { aiSdkMentions, aiSdkPrompt, aiSdkTools } from "../../src/adapters/ai-sdk.ts";
import { adapterContract } from "./contract.ts";
import type { AgentTask } from "./contract.ts";

const anthropicAt = (url: string): LanguageModel =>
  createAnthropic({ baseURL: `${url}/v1`, apiKey: "any" })("scripted");

/** As `plugboard chat` uses it with every endpoint but Anthropic's. */
const compatibleAt = (url: string): LanguageModel =>
  createOpenAICompatible({ name: "scripted", baseURL: `${url}/v1`, supportsMultiPartToolContent: true })(
    "any",
  );

async function run(
  modelAt: (url: string) => LanguageModel,
  { view, url, stream, options, signal, answer }: AgentTask,
): Promise<string> {
  const { tools, instructions } = await aiSdkTools(view, options);
  const messages: ModelMessage[] = [{ role: "user", content: "Do it." }];
  for (;;) {
    const asked = {
      model: modelAt(url),
      tools,
      instructions,
      messages,
      maxRetries: 0,
      maxOutputTokens: 100,
      stopWhen: stepCountIs(10),
      ...(signal && { abortSignal: signal }),
    };
    const result = stream ? streamText({ ...asked, onError: () => undefined }) : await generateText(asked);
    const [text, content, { messages: said }] = [
      await result.text,
      await result.content,
      await result.response,
    ];
    const questions = content.filter((part) => part.type === "tool-approval-request");
    if (questions.length === 0) return text;
    const responses = questions.map(({ approvalId, toolCall }) => ({
      type: "tool-approval-response" as const,
      approvalId,
      approved: answer?.(toolCall.toolName) ?? false,
    }));
    messages.push(...said, { role: "tool", content: responses });
  }
}

for (const [provider, modelAt] of Object.entries({ anthropic: anthropicAt, compatible: compatibleAt }))
  adapterContract({
    name: `ai-sdk, ${provider}`,
    canGrow: true,
    asksItself: true,
    hasMedia: true,
    modes: ["whole", "stream"],
    run: (task) => run(modelAt, task),
    setAside: async (view) => (await aiSdkTools(view)).setAside.map(({ id }) => id),
    async say({ view, url, prompt, args, text }) {
      const messages = await aiSdkPrompt(view, prompt, args);
      const content = await aiSdkMentions(view, text);
      await generateText({
        model: modelAt(url),
        maxOutputTokens: 100,
        messages: [...messages, { role: "user", content }],
      });
    },
  });
