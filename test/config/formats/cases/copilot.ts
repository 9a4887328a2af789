import { type FormatCase, mcpServers } from "./case.ts";

export const copilotCase: FormatCase = {
  id: "copilot",
  document: mcpServers,
  entry: { command: "uvx", args: ["db-mcp"] },
  fixtures: [
    {
      file: "mcp-config.json",
      servers: {
        db: {
          command: "uvx",
          args: ["db-mcp"],
          env: {
            DSN: "${DSN}",
          },
          tools: {
            allow: ["query"],
          },
        },
        notes: {
          type: "http",
          url: "https://notes.example/mcp",
        },
        stream: {
          type: "sse",
          url: "https://stream.example/sse",
          tools: {
            deny: ["*"],
          },
        },
      },
      notes: [],
    },
  ],
};
