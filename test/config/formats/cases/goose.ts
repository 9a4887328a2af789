import type { FormatCase } from "./case.ts";

export const gooseCase: FormatCase = {
  id: "goose",
  document: (entry) => ({ extensions: { probe: entry } }),
  entry: { type: "stdio", cmd: "uvx" },
  fixtures: [
    {
      file: "config.yaml",
      servers: {
        db: {
          command: "uvx",
          args: ["db-mcp", "--port", "8080"],
          env: {
            DSN: "${secret:DSN}",
            LEVEL: "1",
          },
          callTimeoutMs: 300000,
        },
        notes: {
          type: "http",
          url: "https://notes.example/mcp",
          headers: {
            "X-Team": "a",
          },
          enabled: false,
          tools: {
            allow: ["search"],
          },
        },
      },
      notes: ["db: needs-secret env_keys.DSN", "notes: lost name"],
      skipped: ["developer"],
    },
  ],
};
