import { type FormatCase, mcpServers } from "./case.ts";

export const kiroCase: FormatCase = {
  id: "kiro",
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
            DSN: "${DSN}",
          },
          enabled: false,
          tools: {
            deny: ["drop"],
          },
          approval: {
            tools: {
              query: "approve",
            },
          },
        },
        notes: {
          type: "http",
          url: "https://notes.example/mcp",
        },
      },
      notes: [],
    },
  ],
};
