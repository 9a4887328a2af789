import type { FormatCase } from "./case.ts";

export const kiloCase: FormatCase = {
  id: "kilo",
  document: (entry) => ({ mcp: { probe: entry } }),
  entry: { type: "local", command: ["uvx", "db-mcp"] },
  fixtures: [
    {
      file: "kilo.jsonc",
      servers: {
        db: {
          command: "uvx",
          args: ["db-mcp", "--level=1"],
          env: {
            DSN: "${DSN}",
          },
          callTimeoutMs: 10000,
        },
        notes: {
          type: "http",
          url: "https://notes.example/mcp",
          headers: {
            Authorization: "Bearer ${NOTES_TOKEN}",
          },
          enabled: false,
        },
      },
      notes: ["db: translated environment.DSN", "notes: translated headers.Authorization"],
    },
    {
      file: "mcp_settings.json",
      servers: {
        notes: {
          type: "http",
          url: "https://notes.example/mcp",
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
      notes: [],
    },
  ],
};
