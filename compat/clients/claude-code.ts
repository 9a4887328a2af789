import { gatewayName, native, typed } from "./client.ts";
import type { CompatClient } from "./client.ts";

export const claudeCode: CompatClient = {
  id: "claude-code",
  title: "Claude Code",
  package: "@anthropic-ai/claude-code",
  program: { name: "claude", command: native("@anthropic-ai/claude-code-{p}/claude") },
  hasModel: true,
  note: "`claude -p` asks the model without servers that are not ready yet; with `MCP_CONNECTION_NONBLOCKING=0`, as here, it waits for them",
  async use({ scene, target, modelUrl, prompt }) {
    const env = {
      ANTHROPIC_BASE_URL: modelUrl,
      ANTHROPIC_API_KEY: "sk-ant-not-a-key",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      MCP_CONNECTION_NONBLOCKING: "0",
    };
    const words = [
      "claude",
      "mcp",
      "add",
      gatewayName,
      "--",
      ...(target.transport === "stdio" ? target.command : []),
    ];
    await scene.run(target.transport === "stdio" ? words : ["sh", "-c", target.printed("Claude Code")], env);
    const list = await scene.run(["claude", "mcp", "list"], env);
    const asked = await scene.run(["claude", "-p", prompt, "--allowedTools", `mcp__${gatewayName}`], env);
    return {
      configured: target.transport === "stdio" ? typed(words, target) : "what `plugboard serve` prints",
      listed: /^plugboard: .*Connected/m.test(list.out),
      answer: asked.out,
    };
  },
};
