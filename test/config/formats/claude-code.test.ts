import { describe, expect, it } from "vitest";
import { context, formatOf } from "./read-fixture.ts";

describe("M10 Claude Code's own file", () => {
  const claudeCode = formatOf("claude-code");

  it("prefers servers for this project and marks them as local", () => {
    const document = {
      mcpServers: { db: { command: "everywhere" }, notes: { command: "notes" } },
      projects: {
        "/home/ada/app": { mcpServers: { db: { command: "here" } } },
        "/else": { mcpServers: { x: {} } },
      },
    };
    const { servers, skipped } = claudeCode.read(document, context());
    expect(servers.map(({ name, config, local }) => [name, config.command, local])).toEqual([
      ["db", "here", true],
      ["notes", "notes", undefined],
    ]);
    expect(skipped.map(({ name }) => name)).toEqual(["db"]);
  });

  it("finds a Windows project, whose path it writes with forward slashes", () => {
    const document = { projects: { "C:/code/app": { mcpServers: { db: { command: "x" } } } } };
    expect(claudeCode.read(document, context({ projectRoot: "C:\\code\\app" })).servers).toHaveLength(1);
  });

  it("never allows a single request more time than the whole call", () => {
    const entry = { command: "x", timeout: 1000, request_timeout_ms: 5000 };
    const [server] = claudeCode.read({ mcpServers: { a: entry } }, context()).servers;
    expect(server?.config).toEqual({ command: "x", callTimeoutMs: 1000, maxCallTimeoutMs: 1000 });
    expect(server?.notes).toEqual([expect.objectContaining({ kind: "lost", field: "request_timeout_ms" })]);
  });

  it.each([
    ["/opt/get-headers.sh", ["/opt/get-headers.sh"]],
    ["C:\\tools\\headers.exe", ["C:\\tools\\headers.exe"]],
    ["/opt/get-headers.sh --team 'my team'", ["/opt/get-headers.sh", "--team", "my team"]],
    ["vault read x | jq .headers", ["sh", "-c", "vault read x | jq .headers"]],
    ["$HOME/bin/headers", ["sh", "-c", "$HOME/bin/headers"]],
  ])("reads the headersHelper %s as the command that it runs", (headersHelper, words) => {
    const entry = { type: "http", url: "https://a.example/mcp", headersHelper };
    const [server] = claudeCode.read({ mcpServers: { a: entry } }, context()).servers;
    expect(server?.config.headersHelper).toEqual(words);
    const { value } = claudeCode.write!([{ name: "a", config: server!.config }]);
    expect(claudeCode.read(value, context()).servers[0]?.config.headersHelper).toEqual(words);
  });

  it("moves with CLAUDE_CONFIG_DIR", () => {
    const machine = {
      home: "/home/ada",
      platform: "linux",
      projectRoot: "/app",
      env: { CLAUDE_CONFIG_DIR: "/cfg" },
    } as const;
    expect(claudeCode.files(machine)).toEqual([
      { path: "/cfg/.claude.json", scope: "user" },
      { path: "/app/.mcp.json", scope: "project" },
    ]);
  });
});
