import type { FormatCase } from "./case.ts";

export const ampCase: FormatCase = {
  id: "amp",
  document: (entry) => ({ "amp.mcpServers": { probe: entry } }),
  entry: { command: "uvx", args: ["db-mcp"] },
  fixtures: [
    {
      file: "settings.json",
      servers: {
        db: {
          command: "uvx",
          args: ["db-mcp"],
          env: {
            DSN: "${DSN}",
          },
          tools: {
            allow: ["query_*"],
          },
        },
        notes: {
          type: "http",
          url: "https://notes.example/mcp",
          enabled: false,
        },
      },
      notes: ["lost amp.mcpPermissions"],
    },
  ],
};
