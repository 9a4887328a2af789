/**
 * Measures what an adapter adds to `hub.callTool`, and how long it takes to turn 1,000 tools into its SDK's shape. The
 * server is in-process, so that little else counts. All take turns, and the median counts. Exits with 1 if an adapter
 * adds more than 25 µs to a call, or takes more than 100 ms for the tools. Run: node bench/adapters.ts
 */
import assert from "node:assert/strict";
import { aiSdkTools } from "../src/adapters/ai-sdk.ts";
import type { ModelResult } from "../src/adapters/ai-sdk.ts";
import { anthropicTools } from "../src/adapters/anthropic.ts";
import { googleTools } from "../src/adapters/google.ts";
import { langchainTools } from "../src/adapters/langchain.ts";
import { openAiAgentsServer, openAiAgentsTools } from "../src/adapters/openai-agents.ts";
import { openAiChatTools, openAiResponsesTools } from "../src/adapters/openai.ts";
import { createHub } from "../src/index.ts";
import type { View } from "../src/index.ts";
import { echoServer, toolsNamed } from "./echo-server.ts";
import { median } from "./median.ts";

const turns = 300;
const callsATurn = 50;
const shapings = 15;
const bars = { callUs: 25, shapeMs: 100 };

const name = "mcp__it__tool_0";
const args = { text: "hello" };
const written = JSON.stringify(args);

/** What an SDK does with its tool when a model calls it, without the SDK's own work. */
type Call = () => Promise<unknown>;

/** Makes all tools, and one call. */
const adapters: Record<string, (view: View) => Promise<Call>> = {
  async "ai-sdk"(view) {
    const { tools } = await aiSdkTools(view);
    const tool = tools[name];
    const context = { toolCallId: "c", messages: [], context: {} };
    return async () => {
      const output = (await tool?.execute?.(args, context)) as ModelResult;
      return tool?.toModelOutput?.({ toolCallId: "c", input: args, output });
    };
  },
  async anthropic(view) {
    const { call } = await anthropicTools(view);
    return () => call({ id: "c", name, input: args });
  },
  async google(view) {
    const { call } = await googleTools(view);
    return () => call({ id: "c", name, args });
  },
  async langchain(view) {
    const { answer } = await langchainTools(view);
    return () => answer({ tool_calls: [{ id: "c", name, args }] });
  },
  async "openai, chat"(view) {
    const { call } = await openAiChatTools(view);
    return () => call({ id: "c", type: "function", function: { name, arguments: written } });
  },
  async "openai, responses"(view) {
    const { call } = await openAiResponsesTools(view);
    return () => call({ name, arguments: written, call_id: "c" });
  },
  async "openai-agents"(view) {
    const { tools } = await openAiAgentsTools(view);
    const tool = tools.find((one) => one.name === name);
    return async () => tool?.invoke({} as never, written);
  },
  async "openai-agents, mcpServers"(view) {
    const server = openAiAgentsServer(view);
    await server.listTools();
    return () => server.callTool(name, args);
  },
};

const hub = await createHub(
  { servers: { it: { server: echoServer({ tools: toolsNamed(1_000) }) } }, toolSearch: false },
  { env: {} },
);
await hub.tools();
await measureShapes();
await measureCalls();
await hub.close();

async function measureShapes(): Promise<void> {
  console.log("1,000 tools in the SDK's shape");
  for (const [adapter, make] of Object.entries(adapters)) {
    // The SDK itself is loaded once, whatever it costs.
    await make(hub);
    const times: number[] = [];
    for (let turn = 0; turn < shapings; turn++) times.push(await timed(() => make(hub)));
    print(
      adapter,
      `${median(times).toFixed(1)} ms`,
      median(times) <= bars.shapeMs,
      `at most ${bars.shapeMs} ms`,
    );
  }
}

async function measureCalls(): Promise<void> {
  const calls: Record<string, Call> = { "hub.callTool": () => hub.callTool(name, args) };
  for (const [adapter, make] of Object.entries(adapters)) calls[adapter] = await make(hub);
  for (const call of Object.values(calls)) assert.match(JSON.stringify(await call()), /hello/);
  const times = new Map(Object.keys(calls).map((one) => [one, [] as number[]]));
  for (let turn = 0; turn < turns; turn++) {
    for (const [one, call] of Object.entries(calls)) {
      const ms = await timed(async () => {
        for (let made = 0; made < callsATurn; made++) await call();
      });
      if (turn >= turns / 10) times.get(one)?.push((ms / callsATurn) * 1_000);
    }
  }
  const least = median(times.get("hub.callTool") ?? []);
  console.log(`\nWhat is added to hub.callTool, which takes ${least.toFixed(1)} µs`);
  for (const adapter of Object.keys(adapters)) {
    const more = median(times.get(adapter) ?? []) - least;
    print(adapter, `+ ${more.toFixed(1)} µs`, more <= bars.callUs, `at most ${bars.callUs} µs`);
  }
}

function print(adapter: string, figure: string, isMet: boolean, bar: string): void {
  if (!isMet) process.exitCode = 1;
  console.log(`${adapter.padEnd(28)} ${figure.padStart(10)}  ${bar}: ${isMet ? "met" : "MISSED"}`);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
