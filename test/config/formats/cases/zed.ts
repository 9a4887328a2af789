import type { FormatCase } from "./case.ts";

export const zedCase: FormatCase = {
  id: "zed",
  document: (entry) => ({ context_servers: { probe: entry } }),
  entry: { command: "uvx", args: ["db-mcp"] },
  fixtures: [
    {
      file: "settings.json",
      servers: {
        db: {
          command: "uvx",
          args: ["db-mcp"],
        },
        older: {
          command: "node",
          args: ["server.js"],
          env: {
            LEVEL: "1",
          },
        },
        notes: {
          type: "http",
          url: "https://notes.example/mcp",
          headers: {
            Authorization: "Bearer plain-value-3",
          },
          enabled: false,
        },
      },
      notes: ["notes: needs-secret headers.Authorization"],
      skipped: ["from-extension"],
    },
  ],
};
