import { type FormatCase, mcpServers } from "./case.ts";

export const rooCase: FormatCase = {
  id: "roo",
  document: mcpServers,
  entry: { command: "uvx", args: ["db-mcp"] },
  fixtures: [
    {
      file: "mcp_settings.json",
      servers: {
        notes: {
          type: "http",
          url: "https://notes.example/mcp",
          headers: {
            "X-Key": "${NOTES_KEY}",
          },
          tools: {
            deny: ["drop"],
          },
          approval: {
            tools: {
              search: "approve",
            },
          },
        },
        db: {
          command: "uvx",
          args: ["db-mcp"],
          enabled: false,
        },
      },
      notes: ["notes: translated headers.X-Key", "db: lost watchPaths"],
    },
  ],
};
