import { gatewayName, script, typed } from "./client.ts";
import type { CompatClient } from "./client.ts";

export const gemini: CompatClient = {
  id: "gemini",
  title: "Gemini CLI",
  package: "@google/gemini-cli",
  program: { name: "gemini", command: script("@google/gemini-cli/bundle/gemini.js") },
  hasModel: true,
  note: "`--trust`, or `--yolo` where the printed text is used, lets it call tools when nobody is there to approve",
  async use({ scene, target, modelUrl, prompt }) {
    const printed = target.transport === "http" ? (JSON.parse(target.printed("Gemini CLI")) as object) : {};
    scene.write(".gemini/settings.json", {
      ...printed,
      security: { auth: { selectedType: "gemini-api-key" } },
      privacy: { usageStatisticsEnabled: false },
      general: { disableAutoUpdate: true, disableUpdateNag: true },
    });
    const env = {
      GEMINI_API_KEY: "not-a-key",
      GOOGLE_GEMINI_BASE_URL: modelUrl,
      GEMINI_CLI_TRUST_WORKSPACE: "true",
      GEMINI_TELEMETRY_ENABLED: "false",
    };
    const command = target.transport === "stdio" ? target.command : [];
    const words = ["gemini", "mcp", "add", "--scope", "user", "--trust", gatewayName, ...command];
    if (target.transport === "stdio") await scene.run(words, env);
    const list = await scene.run(["gemini", "mcp", "list"], env);
    const approval = target.transport === "stdio" ? [] : ["--yolo"];
    const asked = await scene.run(["gemini", "-m", "gemini-2.5-pro", ...approval, "-p", prompt], env);
    return {
      configured: target.transport === "stdio" ? typed(words, target) : "what `plugboard serve` prints",
      listed: /plugboard: .*Connected/.test(list.out + list.err),
      answer: asked.out,
    };
  },
};
