import { type FormatCase, mcpServers } from "./case.ts";

export const antigravityCase: FormatCase = {
  id: "antigravity",
  document: mcpServers,
  entry: { command: "uvx", args: ["db-mcp"] },
  fixtures: [
    {
      file: "mcp_config.json",
      servers: {
        notes: {
          type: "http",
          url: "https://notes.example/mcp",
        },
        db: {
          command: "uvx",
          args: ["$${X}"],
          enabled: false,
        },
      },
      notes: ["db: translated args[0]"],
    },
  ],
};
