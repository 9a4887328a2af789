import { onTestFinished } from "vitest";
import { fakeStdio } from "../fixtures/fake/stdio-command.ts";
import type { Script } from "../fixtures/fake/script.ts";
import { startModel } from "../fixtures/model/index.ts";
import type { ScriptedModel, ScriptedTurn } from "../fixtures/model/index.ts";
import { createSandbox } from "../sandbox.ts";
import type { CliOptions, CliRun, Sandbox } from "../sandbox.ts";

export type Provider = "openai" | "anthropic";

export interface ChatScene {
  box: Sandbox;
  model: ScriptedModel;
  /** Runs `plugboard chat` in a pipe. */
  chat(args: string[], options?: CliOptions): Promise<CliRun>;
  /** Runs it with --json and returns its events. */
  events(args: string[], options?: CliOptions): Promise<{ code: number; events: ChatLine[] }>;
}

export type ChatLine = Record<string, unknown> & { type: string };

/** A project with one server called `it`, and a scripted model that its user has configured. */
export async function chatScene(
  turns: readonly ScriptedTurn[],
  { provider = "openai", script = {}, config = {} }: SceneOptions = {},
): Promise<ChatScene> {
  const model = await startModel(turns);
  onTestFinished(() => model.close());
  const { chat = {}, ...rest } = config;
  const box = createSandbox({
    "home/.config/plugboard/config.json": {
      mcpServers: { it: fakeStdio(script) },
      chat: { url: `${model.url}/v1`, provider, model: "scripted", key: "${MODEL_KEY}", ...chat },
      ...rest,
    },
  });
  box.env["MODEL_KEY"] = modelKey;
  const run = (args: string[], options?: CliOptions) => box.cli(["chat", ...args], options);
  return {
    box,
    model,
    chat: run,
    events: async (args, options) => {
      const { code, out } = await run([...args, "--json"], options);
      const lines = out.split("\n").filter((line) => line !== "");
      return { code, events: lines.map((line) => JSON.parse(line) as ChatLine) };
    },
  };
}

export const modelKey = "sk-canary-4711";

interface SceneOptions {
  provider?: Provider;
  script?: Script;
  config?: { chat?: object; approval?: unknown; approvals?: unknown };
}
