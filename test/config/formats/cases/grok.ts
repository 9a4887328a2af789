import type { FormatCase } from "./case.ts";

export const grokCase: FormatCase = {
  id: "grok",
  document: (entry) => ({ mcp_servers: { probe: entry } }),
  entry: { command: "uvx", args: ["db-mcp"] },
  fixtures: [
    {
      file: "config.toml",
      servers: {
        db: {
          command: "uvx",
          args: ["db-mcp", "${LEVEL:-1}"],
          env: {
            DSN: "${DSN}",
          },
          startupTimeoutMs: 30000,
          callTimeoutMs: 600000,
        },
        notes: {
          type: "http",
          url: "https://notes.example/mcp",
          headers: {
            Authorization: "Bearer ${NOTES_TOKEN}",
          },
        },
      },
      notes: [],
    },
  ],
};
