import type { FormatCase } from "./case.ts";

export const crushCase: FormatCase = {
  id: "crush",
  document: (entry) => ({ mcp: { probe: entry } }),
  entry: { type: "stdio", command: "uvx", args: ["db-mcp"] },
  fixtures: [
    {
      file: "crush.json",
      servers: {
        db: {
          command: "uvx",
          args: ["db-mcp", "${LEVEL}"],
          env: {
            DSN: "${DSN:-local}",
          },
          startupTimeoutMs: 120000,
          tools: {
            deny: ["drop"],
          },
        },
        notes: {
          type: "http",
          url: "https://notes.example/mcp",
          headers: {
            "X-Key": "${NOTES_KEY}",
            "X-Run": "$(op read op://vault/key)",
          },
          enabled: false,
          oauth: {
            clientId: "abc",
            callbackPort: 40704,
          },
          auth: "oauth",
        },
        events: {
          type: "sse",
          url: "https://events.example/sse",
        },
      },
      notes: ["db: translated args[1]", "notes: translated headers.X-Key", "notes: lost headers.X-Run"],
    },
  ],
};
