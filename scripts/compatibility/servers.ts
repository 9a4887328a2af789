/** Third-party servers, with one harmless call for each. */
export interface Candidate {
  name: string;
  /** The package that npm installs. */
  package: string;
  version: string;
  bin: string;
  args?: string[];
  env?: Record<string, string>;
  /** Absent if every tool uses a service on the network. */
  call?: { tool: string; arguments: Record<string, unknown> };
  remark?: string;
}

const needsBrowser = "Needs Chrome, which was not installed; its own message says so.";

/** `folder` is a temporary git repository with one file. */
export function candidates(folder: string): Candidate[] {
  return [
    {
      name: "everything",
      package: "@modelcontextprotocol/server-everything",
      version: "2026.8.31",
      bin: "mcp-server-everything",
      call: { tool: "get-sum", arguments: { a: 19, b: 23 } },
    },
    {
      name: "filesystem",
      package: "@modelcontextprotocol/server-filesystem",
      version: "2026.8.31",
      bin: "mcp-server-filesystem",
      args: [folder],
      call: { tool: "read_text_file", arguments: { path: `${folder}/hello.js` } },
    },
    {
      name: "memory",
      package: "@modelcontextprotocol/server-memory",
      version: "2026.8.31",
      bin: "mcp-server-memory",
      call: { tool: "read_graph", arguments: {} },
    },
    {
      name: "thinking",
      package: "@modelcontextprotocol/server-sequential-thinking",
      version: "2026.8.31",
      bin: "mcp-server-sequential-thinking",
      call: {
        tool: "sequentialthinking",
        arguments: { thought: "One step.", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
      },
    },
    {
      name: "playwright",
      package: "@playwright/mcp",
      version: "0.0.83",
      bin: "playwright-mcp",
      args: ["--headless"],
      call: { tool: "browser_tabs", arguments: { action: "list" } },
      remark: needsBrowser,
    },
    {
      name: "devtools",
      package: "chrome-devtools-mcp",
      version: "1.11.0",
      bin: "chrome-devtools-mcp",
      args: ["--headless", "--no-usage-statistics"],
      env: { CHROME_DEVTOOLS_MCP_NO_UPDATE_CHECKS: "1" },
      call: { tool: "list_pages", arguments: {} },
      remark: needsBrowser,
    },
    {
      name: "context7",
      package: "@upstash/context7-mcp",
      version: "4.1.1",
      bin: "context7-mcp",
      remark: "Both tools use a service on the network, so they were listed but not called.",
    },
    {
      name: "eslint",
      package: "@eslint/mcp",
      version: "0.3.13",
      bin: "mcp",
      call: { tool: "lint-files", arguments: { filePaths: [`${folder}/hello.js`] } },
    },
    {
      name: "time",
      package: "time-mcp",
      version: "1.0.6",
      bin: "time-mcp",
      call: { tool: "days_in_month", arguments: { date: "2024-02-01" } },
    },
    {
      name: "git",
      package: "@cyanheads/git-mcp-server",
      version: "2.15.3",
      bin: "git-mcp-server",
      call: { tool: "git_status", arguments: { path: folder } },
    },
    {
      name: "calculator",
      package: "@wrtnlabs/calculator-mcp",
      version: "0.2.1",
      bin: "calculator-mcp",
      call: { tool: "mul", arguments: { a: 6, b: 7 } },
    },
    {
      name: "mermaid",
      package: "mcp-mermaid",
      version: "0.4.1",
      bin: "mcp-mermaid",
      call: {
        tool: "generate_mermaid_diagram",
        arguments: { mermaid: "graph TD; A-->B", outputType: "svg" },
      },
      remark: needsBrowser,
    },
    {
      name: "commands",
      package: "mcp-server-commands",
      version: "0.5.0",
      bin: "mcp-server-commands",
      call: { tool: "run_command", arguments: { command: "echo hello" } },
    },
    {
      name: "code-runner",
      package: "mcp-server-code-runner",
      version: "0.1.8",
      bin: "mcp-server-code-runner",
      call: { tool: "run-code", arguments: { languageId: "javascript", code: "console.log(6 * 7)" } },
    },
    {
      name: "shadcn",
      package: "shadcn",
      version: "4.23.0",
      bin: "shadcn",
      args: ["mcp"],
      call: { tool: "get_audit_checklist", arguments: {} },
    },
    {
      name: "hello-world",
      package: "mcp-hello-world",
      version: "1.1.2",
      bin: "mcp-hello-world",
      call: { tool: "echo", arguments: { message: "hello" } },
    },
    {
      name: "dbhub",
      package: "@bytebase/dbhub",
      version: "1.4.0",
      bin: "dbhub",
      args: ["--demo"],
      call: { tool: "execute_sql", arguments: { sql: "select count(*) as n from employee" } },
    },
    {
      name: "angular",
      package: "@angular/cli",
      version: "22.2.6",
      bin: "ng",
      args: ["mcp"],
      env: { NG_CLI_ANALYTICS: "false" },
      call: { tool: "get_best_practices", arguments: {} },
      remark:
        "`list_projects` outside a workspace omits fields that its own output schema requires. The result comes with a warning; with `output.check: error` the call fails.",
    },
  ];
}
