import { type FormatCase, mcpServers } from "./case.ts";

export const traeCase: FormatCase = {
  id: "trae",
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
            API_KEY: "plain-value-8",
          },
        },
        notes: {
          type: "http",
          url: "https://notes.example/mcp",
          headers: {
            "X-Team": "a",
          },
        },
      },
      notes: ["db: lost fromGalleryId", "db: needs-secret env.API_KEY"],
    },
  ],
};
