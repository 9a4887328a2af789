import { gatewayName, native, typed } from "./client.ts";
import type { CompatClient } from "./client.ts";

export const opencode: CompatClient = {
  id: "opencode",
  title: "opencode",
  package: "opencode-ai",
  program: { name: "opencode", command: native("opencode-{p}/bin/opencode") },
  hasModel: true,
  async use({ scene, target, modelUrl, prompt }) {
    const printed = target.transport === "http" ? (JSON.parse(target.printed("opencode")) as object) : {};
    scene.write(".config/opencode/opencode.json", {
      ...printed,
      autoupdate: false,
      share: "disabled",
      provider: {
        scripted: {
          npm: "@ai-sdk/openai-compatible",
          name: "Scripted",
          options: { baseURL: `${modelUrl}/v1`, apiKey: "not-a-key" },
          models: { scripted: { name: "Scripted", tool_call: true } },
        },
      },
    });
    const env = {
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    };
    const words = [
      "opencode",
      "mcp",
      "add",
      gatewayName,
      "--",
      ...(target.transport === "stdio" ? target.command : []),
    ];
    if (target.transport === "stdio") await scene.run(words, env);
    const list = await scene.run(["opencode", "mcp", "list"], env);
    const asked = await scene.run(["opencode", "run", "-m", "scripted/scripted", prompt], env);
    return {
      configured: target.transport === "stdio" ? typed(words, target) : "what `plugboard serve` prints",
      listed: /plugboard\b.*connected/i.test(list.out + list.err),
      answer: asked.out,
    };
  },
};
