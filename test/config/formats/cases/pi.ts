import { type FormatCase, mcpServers } from "./case.ts";

export const piCase: FormatCase = {
  id: "pi",
  document: mcpServers,
  entry: { command: "uvx", args: ["db-mcp"] },
  fixtures: [
    {
      file: "mcp.json",
      servers: {
        db: {
          command: "uvx",
          args: ["db-mcp", "$${PLAIN}"],
          env: {
            DSN: "${DSN}",
            KEY: "!op read op://vault/key",
          },
          tools: {
            deny: ["drop_*"],
          },
        },
        notes: {
          type: "http",
          url: "https://notes.example/mcp",
          bearerTokenEnv: "NOTES_TOKEN",
          enabled: false,
          callTimeoutMs: 90000,
        },
        issues: {
          type: "http",
          url: "https://issues.example/mcp",
          headers: {
            "X-Team": "${TEAM}",
          },
          oauth: {
            clientId: "abc",
            scopes: ["read", "write"],
          },
          auth: "oauth",
        },
      },
      notes: [
        "db: translated args[1]",
        "db: lost env.KEY",
        "db: lost lifecycle",
        "db: needs-secret env.KEY",
        "issues: translated headers.X-Team",
      ],
    },
  ],
};
