import { gatewayName, script, typed } from "./client.ts";
import type { CompatClient } from "./client.ts";

export const copilot: CompatClient = {
  id: "copilot",
  title: "Copilot CLI",
  package: "@github/copilot",
  program: { name: "copilot", command: script("@github/copilot/npm-loader.js") },
  hasModel: true,
  note: "`copilot mcp list` reads its configuration and does not connect",
  async use({ scene, target, modelUrl, prompt }) {
    const env = {
      COPILOT_OFFLINE: "true",
      COPILOT_AUTO_UPDATE: "false",
      COPILOT_PROVIDER_BASE_URL: `${modelUrl}/v1`,
      COPILOT_PROVIDER_API_KEY: "not-a-key",
      COPILOT_MODEL: "scripted",
    };
    const add = ["copilot", "mcp", "add"];
    const words =
      target.transport === "stdio"
        ? [...add, gatewayName, "--", ...target.command]
        : [...add, "--transport", "http", "--header", bearer(target.tokenVariable), gatewayName, target.url];
    await scene.run(words, env);
    await scene.run(["copilot", "mcp", "list"], env);
    const asked = await scene.run(["copilot", "-p", prompt, "--allow-all-tools", "-s"], env);
    return { configured: typed(words, target), answer: asked.out };
  },
};

const bearer = (variable: string) => `Authorization: Bearer \${${variable}}`;
