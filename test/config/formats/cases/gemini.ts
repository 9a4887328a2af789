import { type FormatCase, mcpServers } from "./case.ts";

export const geminiCase: FormatCase = {
  id: "gemini",
  document: mcpServers,
  entry: { command: "uvx", args: ["db-mcp"] },
  fixtures: [
    {
      file: "settings.json",
      servers: {
        notes: {
          type: "http",
          url: "https://notes.example/a%20b%C3%A9/mcp",
          headers: {
            "X-Key": "${NOTES_KEY}",
          },
          callTimeoutMs: 600000,
          tools: {
            deny: ["drop"],
          },
        },
        stream: {
          type: "sse",
          url: "https://stream.example/sse",
        },
        typed: {
          type: "http",
          url: "https://typed.example/mcp",
        },
        db: {
          command: "uvx",
          args: ["db-mcp"],
          cwd: "./db",
          env: {
            DSN: "${DSN}",
            DATA: "${APPDATA}",
          },
          tools: {
            allow: ["query"],
          },
          approval: "approve",
        },
        old: {
          command: "old",
          oauth: {
            clientId: "abc",
            scopes: ["read"],
          },
          auth: "oauth",
          enabled: false,
        },
      },
      notes: [
        "notes: translated headers.X-Key",
        "typed: lost authProviderType",
        "db: translated env.DATA",
        "lost mcp.serverCommand",
      ],
    },
  ],
};
