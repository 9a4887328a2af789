import { type FormatCase, mcpServers } from "./case.ts";

export const claudeCodeCase: FormatCase = {
  id: "claude-code",
  document: mcpServers,
  entry: { command: "uvx", args: ["db-mcp"] },
  fixtures: [
    {
      file: "claude.json",
      servers: {
        db: {
          command: "uvx",
          args: ["db-mcp", "--dsn", "${DSN}"],
          env: {
            API_TOKEN: "plain-value-1",
          },
        },
        notes: {
          type: "http",
          url: "https://notes.example/mcp",
          headers: {
            "X-Key": "${NOTES_KEY:-none}",
          },
        },
        old: {
          type: "sse",
          url: "https://old.example/sse",
          enabled: false,
        },
      },
      notes: ["db: needs-secret env.API_TOKEN", "lost disabledMcpServers"],
      skipped: ["db", "socket"],
    },
    {
      file: "mcp.json",
      scope: "project",
      servers: {
        issues: {
          type: "http",
          url: "https://issues.example/mcp",
          headersHelper: ["./bin/headers", "--json"],
          callTimeoutMs: 120000,
          maxCallTimeoutMs: 120000,
          oauth: {
            clientId: "abc",
            scopes: ["issues:read", "issues:write"],
            callbackPort: 8123,
          },
          alwaysLoad: true,
        },
        bare: {
          type: "http",
          url: "https://bare.example/mcp",
        },
      },
      notes: ["issues: lost oauth.authServerMetadataUrl", "bare: translated type"],
    },
  ],
};
