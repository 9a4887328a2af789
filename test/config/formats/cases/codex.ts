import type { FormatCase } from "./case.ts";

export const codexCase: FormatCase = {
  id: "codex",
  document: (entry) => ({ mcp_servers: { probe: entry } }),
  entry: { command: "uvx", args: ["db-mcp"] },
  fixtures: [
    {
      file: "config.toml",
      servers: {
        db: {
          command: "uvx",
          args: ["db-mcp", "$${NOT_A_VARIABLE}"],
          cwd: "/srv/db",
          env: {
            LOG: "debug",
          },
          inheritEnv: ["DSN", "REGION"],
          required: true,
          startupTimeoutMs: 20000,
          callTimeoutMs: 1500,
          tools: {
            allow: ["query"],
            deny: ["drop", "truncate"],
          },
          approval: {
            default: "auto",
            tools: {
              query: "approve",
            },
          },
        },
        notes: {
          type: "http",
          url: "https://notes.example/mcp",
          headers: {
            "X-Region": "eu",
          },
          headersFromEnv: {
            "X-Key": "NOTES_KEY",
          },
          bearerTokenEnv: "NOTES_TOKEN",
          headersHelper: ["python3", "headers.py"],
          enabled: false,
          oauth: {
            clientId: "abc",
            scopes: ["read"],
            callbackPort: 9000,
          },
        },
        closed: {
          command: "closed",
          tools: {
            deny: ["*"],
          },
        },
      },
      notes: [
        "db: translated args[1]",
        "db: lost env_vars.FAR",
        "db: translated default_tools_approval_mode",
        "notes: lost supports_parallel_tool_calls",
      ],
    },
    {
      file: "excluded-tools.toml",
      servers: {
        filesystem: {
          command: "npx",
          args: ["-y", "@modelcontextprotocol/server-filesystem", "/home/user/project"],
          env: {
            NODE_ENV: "production",
          },
          startupTimeoutMs: 10000,
          callTimeoutMs: 60000,
          tools: {
            deny: ["write_file", "delete_file"],
          },
        },
      },
      notes: [],
    },
  ],
};
