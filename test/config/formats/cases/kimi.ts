import { type FormatCase, mcpServers } from "./case.ts";

export const kimiCase: FormatCase = {
  id: "kimi",
  document: mcpServers,
  entry: { command: "uvx", args: ["db-mcp"] },
  fixtures: [
    {
      file: "mcp.json",
      servers: {
        db: {
          command: "uvx",
          args: ["db-mcp", "$${NOT_A_VARIABLE}"],
          cwd: "/srv/db",
          env: {
            LEVEL: "1",
          },
          startupTimeoutMs: 20000,
          callTimeoutMs: 90000,
          tools: {
            deny: ["drop"],
          },
        },
        notes: {
          type: "http",
          url: "https://notes.example/mcp",
          headers: {
            "X-Team": "a",
          },
          bearerTokenEnv: "NOTES_TOKEN",
          enabled: false,
          tools: {
            allow: ["search"],
          },
        },
        old: {
          type: "sse",
          url: "https://old.example/sse",
          auth: "oauth",
        },
      },
      notes: ["db: translated args[1]"],
    },
  ],
};
