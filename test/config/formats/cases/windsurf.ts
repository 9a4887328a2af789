import { type FormatCase, mcpServers } from "./case.ts";

export const windsurfCase: FormatCase = {
  id: "windsurf",
  document: mcpServers,
  entry: { command: "uvx", args: ["db-mcp"] },
  fixtures: [
    {
      file: "mcp_config.json",
      servers: {
        notes: {
          type: "http",
          url: "https://notes.example/mcp",
          headers: {
            Authorization: "Bearer ${file:~/token}",
          },
        },
        db: {
          command: "uvx",
          args: ["db-mcp"],
          env: {
            DSN: "${DSN}",
          },
          enabled: false,
          tools: {
            deny: ["drop"],
          },
        },
      },
      notes: ["db: translated env.DSN"],
    },
  ],
};
