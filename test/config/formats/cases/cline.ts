import { type FormatCase, mcpServers } from "./case.ts";

export const clineCase: FormatCase = {
  id: "cline",
  document: mcpServers,
  entry: { command: "uvx", args: ["db-mcp"] },
  fixtures: [
    {
      file: "cline_mcp_settings.json",
      servers: {
        notes: {
          type: "http",
          url: "https://notes.example/mcp",
          callTimeoutMs: 30000,
          approval: {
            tools: {
              search: "approve",
            },
          },
        },
        bare: {
          type: "sse",
          url: "https://bare.example/sse",
        },
        nested: {
          command: "uvx",
          args: ["db-mcp"],
          enabled: false,
        },
      },
      notes: ["nested: lost metadata"],
    },
  ],
};
