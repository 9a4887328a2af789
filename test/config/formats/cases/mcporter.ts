import { type FormatCase, mcpServers } from "./case.ts";

export const mcporterCase: FormatCase = {
  id: "mcporter",
  document: mcpServers,
  entry: { command: "uvx", args: ["db-mcp"] },
  fixtures: [
    {
      file: "mcporter.jsonc",
      servers: {
        devtools: {
          command: "npx",
          args: ["-y", "devtools-mcp"],
          env: {
            KEY: "${DEVTOOLS_KEY}",
          },
        },
        list: {
          command: "uvx",
          args: ["db-mcp"],
          tools: {
            allow: ["query"],
          },
        },
        spaced: {
          command: "/opt/my tools/server",
          args: ["--stdio"],
        },
        notes: {
          type: "http",
          url: "https://notes.example/mcp",
          headers: {
            "X-Key": "${NOTES_KEY:-none}",
          },
          bearerTokenEnv: "NOTES_TOKEN",
          auth: "oauth",
        },
      },
      notes: ["devtools: translated env.KEY", "notes: lost lifecycle", "lost imports"],
    },
  ],
};
