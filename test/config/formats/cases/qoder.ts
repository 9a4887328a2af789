import { type FormatCase, mcpServers } from "./case.ts";

export const qoderCase: FormatCase = {
  id: "qoder",
  document: mcpServers,
  entry: { command: "uvx", args: ["db-mcp"] },
  fixtures: [
    {
      file: "settings.json",
      servers: {
        db: {
          command: "uvx",
          args: ["db-mcp"],
          cwd: "/srv/db",
          env: {
            LEVEL: "1",
          },
          callTimeoutMs: 30000,
        },
        notes: {
          type: "http",
          url: "https://notes.example/mcp",
          headers: {
            "X-Team": "a",
          },
        },
        events: {
          type: "sse",
          url: "https://events.example/sse",
        },
      },
      notes: ["notes: lost description"],
      skipped: ["socket"],
    },
  ],
};
