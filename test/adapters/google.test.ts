import { GoogleGenAI } from "@google/genai";
import type { Content, FunctionCall } from "@google/genai";
import { googleMentions, googlePrompt, googleTools } from "../../src/adapters/google.ts";
import { adapterContract } from "./contract.ts";
import type { AgentTask } from "./contract.ts";

const modelsAt = (url: string) =>
  new GoogleGenAI({ apiKey: "any", httpOptions: { baseUrl: url, retryOptions: { attempts: 1 } } }).models;
const model = "scripted";

async function run({ view, url, stream, options, signal }: AgentTask): Promise<string> {
  const { tool, answer, instructions } = await googleTools(view, options);
  const contents: Content[] = [{ role: "user", parts: [{ text: "Do it." }] }];
  for (;;) {
    const config = { tools: [tool], systemInstruction: instructions, ...(signal && { abortSignal: signal }) };
    const said: Content = { role: "model", parts: [] };
    const functionCalls: FunctionCall[] = [];
    const asked = { model, contents, config };
    const responses = stream
      ? await modelsAt(url).generateContentStream(asked)
      : [await modelsAt(url).generateContent(asked)];
    for await (const response of responses) {
      said.parts?.push(...(response.candidates?.[0]?.content?.parts ?? []));
      functionCalls.push(...(response.functionCalls ?? []));
    }
    const answers = await answer({ functionCalls }, { signal });
    if (answers.length === 0) return (said.parts ?? []).map(({ text = "" }) => text).join("");
    signal?.throwIfAborted();
    contents.push(said, { role: "user", parts: answers });
  }
}

adapterContract({
  name: "google",
  canGrow: true,
  asksItself: false,
  hasMedia: true,
  modes: ["whole", "stream"],
  run,
  setAside: async (view) => (await googleTools(view)).setAside.map(({ id }) => id),
  async say({ view, url, prompt, args, text }) {
    const contents = await googlePrompt(view, prompt, args);
    const parts = await googleMentions(view, text);
    await modelsAt(url).generateContent({ model, contents: [...contents, { role: "user", parts }] });
  },
});
