import type { FormatCase } from "./case.ts";

export const opencodeCase: FormatCase = {
  id: "opencode",
  document: (entry) => ({ mcp: { probe: entry } }),
  entry: { type: "local", command: ["uvx", "db-mcp"] },
  fixtures: [
    {
      file: "opencode.jsonc",
      servers: {
        db: {
          command: "uvx",
          args: ["db-mcp", "${file:./dsn.txt}"],
          cwd: "./db",
          env: {
            DSN: "${DSN}",
            TEMPLATE: "$${X}",
          },
          callTimeoutMs: 8000,
        },
        notes: {
          type: "http",
          url: "https://notes.example/mcp",
          headers: {
            Authorization: "Bearer ${NOTES}",
          },
          enabled: false,
          oauth: {
            clientId: "abc",
            clientSecret: "${NOTES_SECRET}",
            scopes: ["read", "write"],
          },
        },
        open: {
          type: "http",
          url: "https://open.example/mcp",
          auth: "none",
        },
      },
      notes: [
        "db: translated command[2]",
        "db: translated environment.DSN",
        "db: translated environment.TEMPLATE",
        "notes: translated headers.Authorization",
        "notes: translated oauth.clientSecret",
      ],
      skipped: ["switch-only"],
    },
    {
      file: "second-version.json",
      servers: {
        db: {
          command: "uvx",
          args: ["db-mcp"],
          enabled: false,
          startupTimeoutMs: 30000,
          callTimeoutMs: 60000,
        },
        notes: {
          type: "http",
          url: "https://notes.example/mcp",
          oauth: {
            clientId: "abc",
            callbackPort: 9000,
          },
        },
      },
      notes: ["db: lost timeout.catalog", "lost mcp.timeout"],
    },
  ],
};
