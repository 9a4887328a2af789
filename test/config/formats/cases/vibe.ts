import { type FormatCase, named } from "./case.ts";

export const vibeCase: FormatCase = {
  id: "vibe",
  document: (entry) => ({ mcp_servers: [named("name", entry)] }),
  entry: { transport: "stdio", command: "uvx", args: ["db-mcp"] },
  fixtures: [
    {
      file: "config.toml",
      servers: {
        db: {
          command: "uvx",
          args: ["--quiet", "db-mcp"],
          env: {
            LEVEL: "1",
          },
          startupTimeoutMs: 15000,
          callTimeoutMs: 120000,
          tools: {
            deny: ["drop"],
          },
        },
        notes: {
          type: "http",
          url: "https://notes.example/mcp",
          headers: {
            "X-Team": "a",
          },
          bearerTokenEnv: "NOTES_TOKEN",
          enabled: false,
        },
        keyed: {
          type: "http",
          url: "https://keyed.example/mcp",
          headers: {
            "X-Api-Key": "${KEYED}",
          },
        },
        "signed-in": {
          type: "http",
          url: "https://login.example/mcp",
          oauth: {
            clientId: "abc",
            scopes: ["read"],
            callbackPort: 47823,
          },
          auth: "oauth",
        },
      },
      notes: [],
      skipped: ["mcp_servers[4]"],
    },
  ],
};
