import { type FormatCase, mcpServers } from "./case.ts";

export const cursorCase: FormatCase = {
  id: "cursor",
  document: mcpServers,
  entry: { command: "uvx", args: ["db-mcp"] },
  fixtures: [
    {
      file: "mcp.json",
      servers: {
        notes: {
          type: "http",
          url: "https://notes.example/mcp",
          headers: {
            Authorization: "Bearer ${NOTES}",
          },
        },
        files: {
          command: "npx",
          args: ["-y", "files-mcp", "/home/ada/app/docs", "${HOME}/notes", "$${NOT_OURS}"],
          env: {
            API_KEY: "${FILES_KEY}",
            LEVEL: "3",
          },
        },
        login: {
          type: "http",
          url: "https://login.example/mcp",
          oauth: {
            clientId: "abc",
            clientSecret: "${LOGIN_SECRET}",
            scopes: ["read", "write"],
          },
        },
      },
      notes: [
        "notes: translated headers.Authorization",
        "files: translated args[2]",
        "files: translated args[3]",
        "files: lost args[4]",
        "files: translated env.API_KEY",
        "files: lost envFile",
        "login: translated auth.CLIENT_SECRET",
      ],
    },
  ],
};
