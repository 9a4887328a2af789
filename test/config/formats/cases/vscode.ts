import type { FormatCase } from "./case.ts";

export const vscodeCase: FormatCase = {
  id: "vscode",
  document: (entry) => ({ servers: { probe: entry } }),
  entry: { command: "uvx", args: ["db-mcp"] },
  fixtures: [
    {
      file: "mcp.json",
      scope: "project",
      servers: {
        db: {
          command: "uvx",
          args: ["db-mcp", "--stage=${secret:stage}"],
          cwd: "./db",
          env: {
            KEY: "${secret:db-key}",
            HOME_DIR: "${HOME}",
          },
        },
        notes: {
          type: "http",
          url: "https://notes.example/mcp",
          headers: {
            "X-Key": "${NOTES_KEY}",
          },
          oauth: {
            clientId: "abc",
          },
        },
      },
      notes: [
        "db: needs-secret args[1]",
        "db: needs-secret env.KEY",
        "db: lost env.UNSET",
        "db: translated env.HOME_DIR",
        "db: translated cwd",
        "db: lost envFile",
        "db: lost dev",
        "notes: translated headers.X-Key",
        "lost inputs.stage.options",
        "lost inputs.stage.default",
      ],
      skipped: ["pipe"],
    },
    {
      file: "settings.json",
      servers: {
        old: {
          type: "sse",
          url: "https://old.example/sse",
        },
      },
      notes: [],
    },
  ],
};
