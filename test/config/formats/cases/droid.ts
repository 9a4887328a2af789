import { type FormatCase, mcpServers } from "./case.ts";

export const droidCase: FormatCase = {
  id: "droid",
  document: mcpServers,
  entry: { command: "uvx", args: ["db-mcp"] },
  fixtures: [
    {
      file: "mcp.json",
      servers: {
        db: {
          command: "uvx",
          args: ["db-mcp"],
          env: {
            DSN: "${DSN:-local}",
          },
          enabled: false,
          tools: {
            deny: ["drop"],
          },
        },
        notes: {
          type: "http",
          url: "https://notes.example/mcp",
          headers: {
            Authorization: "Bearer ${NOTES_TOKEN}",
          },
          callTimeoutMs: 45000,
          tools: {
            allow: ["search"],
          },
        },
      },
      notes: [],
    },
  ],
};
