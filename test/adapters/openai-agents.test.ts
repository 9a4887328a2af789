import { Agent, OpenAIProvider, Runner } from "@openai/agents";
import type { AgentInputItem, RunState, Tool } from "@openai/agents";
import OpenAI from "openai";
import {
  openAiAgentsMentions,
  openAiAgentsPrompt,
  openAiAgentsServer,
  openAiAgentsTools,
} from "../../src/adapters/openai-agents.ts";
import { adapterContract } from "./contract.ts";
import type { AgentTask } from "./contract.ts";

function runnerAt(url: string, useResponses: boolean): Runner {
  const openAIClient = new OpenAI({ baseURL: `${url}/v1`, apiKey: "any", maxRetries: 0 });
  const modelProvider = new OpenAIProvider({ openAIClient, useResponses });
  return new Runner({ modelProvider, tracingDisabled: true, toolNotFoundBehavior: "return_error_to_model" });
}

async function loop(agent: Agent, useResponses: boolean, task: AgentTask): Promise<string> {
  const { url, stream, signal, answer } = task;
  const runner = runnerAt(url, useResponses);
  let input: string | RunState<unknown, Agent> = "Do it.";
  for (;;) {
    const options = signal ? { signal } : {};
    const result = stream
      ? await runner.run(agent, input, { ...options, stream: true })
      : await runner.run(agent, input, options);
    if ("completed" in result) await result.completed;
    signal?.throwIfAborted();
    if (result.interruptions.length === 0) return result.finalOutput ?? "";
    const state: RunState<unknown, Agent> = result.state;
    for (const question of result.interruptions) {
      if (answer?.(question.name ?? "")) state.approve(question);
      else state.reject(question);
    }
    input = state;
  }
}

const agentWith = (tools: Tool[], instructions: string) =>
  new Agent({ name: "Tester", model: "scripted", instructions, tools });

async function say(url: string, items: AgentInputItem[]): Promise<void> {
  await runnerAt(url, true).run(agentWith([], ""), items);
}

const common = {
  canGrow: true,
  hasMedia: true,
  modes: ["whole", "stream"] as const,
  say: async ({
    view,
    url,
    prompt,
    args,
    text,
  }: Parameters<Parameters<typeof adapterContract>[0]["say"]>[0]) =>
    say(url, [...(await openAiAgentsPrompt(view, prompt, args)), await openAiAgentsMentions(view, text)]),
  setAside: async (view: AgentTask["view"]) => (await openAiAgentsTools(view)).setAside.map(({ id }) => id),
};

adapterContract({
  ...common,
  name: "openai-agents",
  asksItself: true,
  async run(task) {
    const { tools, instructions } = await openAiAgentsTools(task.view, task.options);
    return loop(agentWith(tools, instructions), true, task);
  },
});

adapterContract({
  ...common,
  name: "openai-agents, mcpServers",
  asksItself: false,
  async run(task) {
    const agent = agentWith([], "");
    // Set after the agent was made.
    agent.mcpServers = [openAiAgentsServer(task.view, task.options)];
    return loop(agent, true, task);
  },
});
