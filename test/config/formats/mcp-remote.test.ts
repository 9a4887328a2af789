import { describe, expect, it } from "vitest";
import { context, formatOf } from "./read-fixture.ts";

describe("M10 entries that only run mcp-remote", () => {
  const url = "https://notes.example/mcp";

  it.each([
    ["npx", ["mcp-remote", url]],
    ["npx", ["-y", "mcp-remote@latest", url]],
    ["npx", ["-p", "mcp-remote@0.1.29", "mcp-remote", url]],
    ["npx", ["--yes", "--package=mcp-remote", "mcp-remote", url]],
    ["/usr/local/bin/npx", ["-y", "mcp-remote", url]],
    ["C:\\nodejs\\npx.cmd", ["-y", "mcp-remote", url]],
    ["cmd", ["/c", "npx", "-y", "mcp-remote", url]],
    ["bunx", ["mcp-remote", url]],
    ["bun", ["x", "mcp-remote", url]],
    ["pnpm", ["dlx", "mcp-remote", url]],
    ["mcp-remote", [url]],
  ])("become the remote server they stand for: %s %j", (command, args) => {
    const [server] = readEntry({ command, args });
    expect(server?.config).toEqual({ type: "http", url });
    expect(server?.notes).toEqual([expect.objectContaining({ kind: "translated", field: "command" })]);
  });

  it.each([
    ["npx", ["-y", "mcp-remote-other", url]],
    ["npx", ["-y", "mcp-remote"]],
    ["npx", ["-y", "mcp-remote", "not-an-address"]],
    ["node", ["mcp-remote", url]],
  ])("stay as they are when they are something else: %s %j", (command, args) => {
    expect(readEntry({ command, args })[0]?.config).toEqual({ command, args });
  });

  it("keep their headers, with the entry's own variables filled in", () => {
    const args = ["mcp-remote", url, "--header", "Authorization: ${AUTH}", "--header", "X-Team:${TEAM}"];
    const [server] = readEntry({ command: "npx", args, env: { AUTH: "Bearer hush-hush" } });
    expect(server?.config.headers).toEqual({ Authorization: "Bearer hush-hush", "X-Team": "${TEAM}" });
    expect(server?.notes).toContainEqual(
      expect.objectContaining({ kind: "needs-secret", field: "headers.Authorization" }),
    );
    expect(JSON.stringify(server?.notes)).not.toContain("hush-hush");
  });

  it("keep transport, callback port, client and hidden tools, and report what is lost", () => {
    const client = JSON.stringify({ client_id: "abc", client_secret: "hush-hush" });
    const options = [
      "3334",
      "--transport",
      "sse-only",
      "--ignore-tool",
      "drop",
      "--static-oauth-client-info",
      client,
    ];
    const [server] = readEntry({
      command: "npx",
      args: ["mcp-remote", url, "--debug", ...options, "--secret=hush-hush"],
      env: { NODE_EXTRA_CA_CERTS: "/ca.pem", OTHER: "1" },
    });
    expect(server?.config).toEqual({
      type: "sse",
      url,
      tools: { deny: ["drop"] },
      oauth: { clientId: "abc", clientSecret: "hush-hush", callbackPort: 3334 },
      network: { ca: "/ca.pem" },
    });
    const lost = server?.notes.filter(({ kind }) => kind === "lost").map(({ field }) => field);
    expect(lost).toEqual(["args --debug", "args --secret", "env.OTHER"]);
    expect(JSON.stringify(server?.notes)).not.toContain("hush-hush");
  });

  it.each([
    [["--resource", "api://notes"], "api://notes"],
    [["--resource", ""], false],
    [["--disable-resource-parameter"], false],
    [["--disable-resource-parameter", "--resource", "api://notes"], false],
    [["--resource", "api://notes", "--disable-resource-parameter"], false],
  ])("keep what tokens are requested for: %j", (options, resource) => {
    const [server] = readEntry({ command: "npx", args: ["mcp-remote", url, ...options] });
    expect(server?.config.oauth).toEqual({ resource });
    expect(server?.notes.map(({ kind }) => kind)).not.toContain("lost");
    const written = formatOf("claude-desktop").write!([server!]);
    expect(written.notes.map(({ kind }) => kind)).not.toContain("lost");
    const [again] = formatOf("claude-desktop").read(written.value, context()).servers;
    expect(again?.config).toEqual(server?.config);
  });

  function readEntry(entry: unknown) {
    return formatOf("claude-desktop").read({ mcpServers: { notes: entry } }, context()).servers;
  }
});
