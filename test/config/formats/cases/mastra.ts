import { type FormatCase, mcpServers } from "./case.ts";

export const mastraCase: FormatCase = {
  id: "mastra",
  document: mcpServers,
  entry: { command: "uvx", args: ["db-mcp"] },
  fixtures: [
    {
      file: "mcp.json",
      servers: {
        db: {
          command: "uvx",
          args: ["db-mcp"],
          env: {
            LEVEL: "1",
          },
        },
        notes: {
          type: "http",
          url: "https://notes.example/mcp",
          headers: {
            "X-Team": "a",
          },
          oauth: {
            clientId: "abc",
            scopes: ["read"],
          },
        },
      },
      notes: ["notes: lost oauth.redirectUrl"],
    },
  ],
};
