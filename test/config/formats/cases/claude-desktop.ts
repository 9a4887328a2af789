import { type FormatCase, mcpServers } from "./case.ts";

export const claudeDesktopCase: FormatCase = {
  id: "claude-desktop",
  document: mcpServers,
  entry: { command: "uvx", args: ["db-mcp"] },
  fixtures: [
    {
      file: "claude_desktop_config.json",
      servers: {
        "My Database": {
          command: "npx",
          args: ["-y", "db-mcp", "$${HOME}/data"],
          env: {
            DSN: "postgres://local",
          },
        },
        linear: {
          type: "sse",
          url: "https://linear.example/sse",
          headers: {
            Authorization: "Bearer plain-value-2",
          },
        },
        windows: {
          type: "http",
          url: "https://win.example/mcp",
          headers: {
            "X-Team": "${TEAM}",
          },
          oauth: {
            callbackPort: 3334,
          },
        },
      },
      notes: [
        "My Database: translated args[2]",
        "linear: translated command",
        "linear: lost args --debug",
        "linear: lost env.OTHER",
        "linear: needs-secret headers.Authorization",
        "windows: translated command",
      ],
    },
  ],
};
