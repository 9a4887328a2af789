import { type FormatCase, named } from "./case.ts";

export const manifestCase: FormatCase = {
  id: "manifest",
  document: (entry) => ({ config: { servers: [named("alias", entry)] } }),
  entry: { transport: "stdio", command: "uvx" },
  fixtures: [
    {
      file: "manifest.yaml",
      servers: {
        filesystem: {
          command: "npx",
          args: ["-y", "@modelcontextprotocol/server-filesystem", "/srv/files"],
          tools: {
            allow: ["read_file", "list_directory"],
          },
        },
        github: {
          type: "http",
          url: "http://localhost:3000/mcp",
          headers: {
            Authorization: "Bearer ${secret:GITHUB_TOKEN}",
          },
          approval: {
            tools: {
              delete_repository: "prompt",
              search: "approve",
            },
          },
          cacheTtlMs: 0,
        },
      },
      notes: ["github: needs-secret headers.Authorization"],
    },
  ],
};
