import type { FormatCase } from "./case.ts";

export const toolloopCase: FormatCase = {
  id: "toolloop",
  document: (entry) => ({ servers: { probe: entry } }),
  entry: { trust: "trusted", transport: { type: "stdio", command: "uvx" } },
  fixtures: [
    {
      file: "codex-toolloop.mcp.json",
      servers: {
        repo: {
          type: "http",
          url: "http://localhost:4010/mcp",
          auth: "company",
        },
        web: {
          command: "web-mcp",
          cwd: "./web",
          env: {
            LEVEL: "1",
          },
          untrusted: true,
        },
      },
      notes: [],
      skipped: ["bundles.nothing"],
      bundles: {
        repoRead: {
          servers: ["repo"],
          mode: "direct",
          tools: {
            allow: ["readFile", "search"],
            deny: ["search"],
          },
        },
      },
    },
  ],
};
