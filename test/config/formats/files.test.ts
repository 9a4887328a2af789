import { describe, expect, it } from "vitest";
import { formatOf } from "./read-fixture.ts";

const machine = { home: "/home/ada", platform: "linux", projectRoot: "/app", env: {} } as const;
const pathsOf = (id: string, env: Record<string, string> = {}) =>
  formatOf(id)
    .files({ ...machine, env })
    .map(({ path }) => path);

describe("M10 where clients have their files", () => {
  it.each([
    ["copilot", "/home/ada/.copilot/mcp-config.json"],
    ["antigravity", "/home/ada/.gemini/config/mcp_config.json"],
    ["antigravity", "/app/.agents/mcp_config.json"],
    ["kilo", "/home/ada/.config/kilo/kilo.jsonc"],
    ["kilo", "/app/.kilo/kilo.jsonc"],
    ["kilo", "/app/.kilocode/mcp.json"],
    ["pi", "/home/ada/.pi/agent/mcp.json"],
    ["droid", "/home/ada/.factory/mcp.json"],
    ["grok", "/home/ada/.grok/config.toml"],
    ["kimi", "/home/ada/.kimi-code/mcp.json"],
    ["vibe", "/home/ada/.vibe/config.toml"],
    ["crush", "/home/ada/.config/crush/crush.json"],
    ["qoder", "/home/ada/.qoder/settings.json"],
    ["mastra", "/home/ada/.mastracode/mcp.json"],
    ["trae", "/app/.trae/mcp.json"],
  ])("%s: %s", (id, path) => {
    expect(pathsOf(id)).toContain(path);
  });

  it.each([
    ["copilot", "COPILOT_HOME", "/elsewhere/mcp-config.json"],
    ["codex", "CODEX_HOME", "/elsewhere/config.toml"],
    ["grok", "GROK_HOME", "/elsewhere/config.toml"],
    ["kimi", "KIMI_CODE_HOME", "/elsewhere/mcp.json"],
    ["vibe", "VIBE_HOME", "/elsewhere/config.toml"],
    ["crush", "CRUSH_GLOBAL_CONFIG", "/elsewhere/crush.json"],
    ["pi", "PI_CODING_AGENT_DIR", "/elsewhere/mcp.json"],
  ])("%s moves with %s", (id, variable, path) => {
    expect(pathsOf(id, { [variable]: "/elsewhere" })).toContain(path);
  });

  it("does not move Copilot CLI's file with XDG_CONFIG_HOME", () => {
    expect(pathsOf("copilot", { XDG_CONFIG_HOME: "/xdg" })).toContain("/home/ada/.copilot/mcp-config.json");
  });
});
