import { type FormatCase, mcpServers } from "./case.ts";

export const lmStudioCase: FormatCase = {
  id: "lm-studio",
  document: mcpServers,
  entry: { command: "uvx", args: ["db-mcp"] },
  fixtures: [
    {
      file: "mcp.json",
      servers: {
        notes: {
          type: "http",
          url: "https://notes.example/mcp",
          headers: {
            Authorization: "Bearer plain-value-4",
          },
        },
        db: {
          command: "uvx",
          args: ["db-mcp"],
        },
      },
      notes: ["notes: needs-secret headers.Authorization"],
    },
  ],
};
