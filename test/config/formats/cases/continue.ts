import { type FormatCase, mcpServers } from "./case.ts";

export const continueCase: FormatCase = {
  id: "continue",
  document: mcpServers,
  entry: { command: "uvx", args: ["db-mcp"] },
  fixtures: [
    {
      file: "config.yaml",
      servers: {
        db: {
          command: "uvx",
          args: ["db-mcp"],
          env: {
            DSN: "${secret:DSN}",
          },
        },
        notes: {
          type: "http",
          url: "https://notes.example/mcp",
          headers: {
            "X-Key": "${secret:NOTES_KEY}",
          },
        },
      },
      notes: [
        "db: needs-secret env.DSN",
        "notes: needs-secret requestOptions.headers.X-Key",
        "notes: lost requestOptions.timeout",
      ],
      skipped: ["mcpServers[2]"],
    },
  ],
};
