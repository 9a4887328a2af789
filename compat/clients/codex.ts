import { gatewayName, script, typed } from "./client.ts";
import type { CompatClient } from "./client.ts";

export const codex: CompatClient = {
  id: "codex",
  title: "Codex",
  package: "@openai/codex",
  program: { name: "codex", command: script("@openai/codex/bin/codex.js") },
  hasModel: true,
  note: "`codex exec` asks the model without servers that are not ready within about a second; with `required = true`, as here, it waits for them. `codex mcp list` reads its configuration and does not connect",
  async use({ scene, target, modelUrl, prompt }) {
    const env = { MODEL_KEY: "not-a-key" };
    const words = [
      "codex",
      "mcp",
      "add",
      gatewayName,
      "--",
      ...(target.transport === "stdio" ? target.command : []),
    ];
    if (target.transport === "stdio") await scene.run(words, env);
    else scene.write(".codex/config.toml", `${target.printed("Codex")}\n`);
    await scene.run(["codex", "mcp", "list"], env);
    const settings = codexSettings({
      ...codexModel(modelUrl),
      [`mcp_servers.${gatewayName}.required`]: true,
      // Without it `codex exec` refuses what is not annotated as read-only. Plugboard approves the inner call.
      [`mcp_servers.${gatewayName}.tools.call_tool.approval_mode`]: "approve",
    });
    const asked = await scene.run(["codex", "exec", "--skip-git-repo-check", ...settings, prompt], env);
    return {
      configured: target.transport === "stdio" ? typed(words, target) : "what `plugboard serve` prints",
      answer: asked.out,
    };
  },
};

/** Settings for one run, as options. */
export const codexSettings = (settings: Readonly<Record<string, string | boolean>>) =>
  Object.entries(settings).flatMap(([key, value]) => ["-c", `${key}=${JSON.stringify(value)}`]);

/** The scripted model instead of OpenAI's; it takes any `MODEL_KEY`. */
export const codexModel = (modelUrl: string) => ({
  model: "scripted",
  model_provider: "scripted",
  "model_providers.scripted.name": "Scripted",
  "model_providers.scripted.base_url": `${modelUrl}/v1`,
  "model_providers.scripted.wire_api": "responses",
  "model_providers.scripted.env_key": "MODEL_KEY",
  "model_providers.scripted.supports_websockets": false,
});
