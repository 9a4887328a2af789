/** A third-party server from npm. `$PWD` in its words stands for a git repository with one file. */
export interface Candidate {
  name: string;
  package: string;
  version: string;
  args?: string[];
  env?: Record<string, string>;
  /** What it cannot start without, as its failure has to name it; absent if it connects. */
  needs?: string;
  /** One harmless call. Absent if every tool uses a service on the network. */
  call?: { tool: string; arguments: Record<string, unknown> };
  remark?: string;
}

const needsBrowser = "Needs Chrome, which was not installed; its own message says so.";

const callable: Candidate[] = [
  {
    name: "everything",
    package: "@modelcontextprotocol/server-everything",
    version: "2026.8.31",
    call: { tool: "get-sum", arguments: { a: 19, b: 23 } },
  },
  {
    name: "filesystem",
    package: "@modelcontextprotocol/server-filesystem",
    version: "2026.8.31",
    args: ["$PWD"],
    call: { tool: "read_text_file", arguments: { path: "$PWD/hello.js" } },
  },
  {
    name: "memory",
    package: "@modelcontextprotocol/server-memory",
    version: "2026.8.31",
    call: { tool: "read_graph", arguments: {} },
  },
  {
    name: "thinking",
    package: "@modelcontextprotocol/server-sequential-thinking",
    version: "2026.8.31",
    call: {
      tool: "sequentialthinking",
      arguments: { thought: "One step.", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
    },
  },
  {
    name: "playwright",
    package: "@playwright/mcp",
    version: "0.0.83",
    args: ["--headless"],
    call: { tool: "browser_tabs", arguments: { action: "list" } },
    remark: needsBrowser,
  },
  {
    name: "devtools",
    package: "chrome-devtools-mcp",
    version: "1.11.0",
    args: ["--headless", "--no-usage-statistics"],
    env: { CHROME_DEVTOOLS_MCP_NO_UPDATE_CHECKS: "1" },
    call: { tool: "list_pages", arguments: {} },
    remark: needsBrowser,
  },
  {
    name: "context7",
    package: "@upstash/context7-mcp",
    version: "4.1.1",
    remark: "Both tools use a service on the network, so they were listed but not called.",
  },
  {
    name: "eslint",
    package: "@eslint/mcp",
    version: "0.3.13",
    call: { tool: "lint-files", arguments: { filePaths: ["$PWD/hello.js"] } },
  },
  {
    name: "time",
    package: "time-mcp",
    version: "1.0.6",
    call: { tool: "days_in_month", arguments: { date: "2024-02-01" } },
  },
  {
    name: "git",
    package: "@cyanheads/git-mcp-server",
    version: "2.15.3",
    call: { tool: "git_status", arguments: { path: "$PWD" } },
  },
  {
    name: "calculator",
    package: "@wrtnlabs/calculator-mcp",
    version: "0.2.1",
    call: { tool: "mul", arguments: { a: 6, b: 7 } },
  },
  {
    name: "mermaid",
    package: "mcp-mermaid",
    version: "0.4.1",
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
    call: { tool: "run_command", arguments: { command: "echo hello" } },
  },
  {
    name: "code-runner",
    package: "mcp-server-code-runner",
    version: "0.1.8",
    call: { tool: "run-code", arguments: { languageId: "javascript", code: "console.log(6 * 7)" } },
  },
  {
    name: "shadcn",
    package: "shadcn",
    version: "4.23.0",
    args: ["mcp"],
    call: { tool: "get_audit_checklist", arguments: {} },
  },
  {
    name: "hello-world",
    package: "mcp-hello-world",
    version: "1.1.2",
    call: { tool: "echo", arguments: { message: "hello" } },
  },
  {
    name: "dbhub",
    package: "@bytebase/dbhub",
    version: "1.4.0",
    args: ["--demo"],
    call: { tool: "execute_sql", arguments: { sql: "select count(*) as n from employee" } },
  },
  {
    name: "angular",
    package: "@angular/cli",
    version: "22.2.6",
    args: ["mcp"],
    env: { NG_CLI_ANALYTICS: "false" },
    call: { tool: "get_best_practices", arguments: {} },
    remark:
      "`list_projects` outside a workspace omits fields that its own output schema requires. The result comes with a warning; with `output.check: error` the call fails.",
  },
];

/** Only started and listed. */
const started: Candidate[] = [
  { name: "mongodb", package: "mongodb-mcp-server", version: "3.0.4" },
  { name: "github", package: "@modelcontextprotocol/server-github", version: "2025.4.8" },
  { name: "puppeteer", package: "@modelcontextprotocol/server-puppeteer", version: "2025.5.12" },
  { name: "notion", package: "@notionhq/notion-mcp-server", version: "2.5.2" },
  { name: "firecrawl", package: "firecrawl-mcp", version: "3.26.0" },
  { name: "exa", package: "exa-mcp-server", version: "3.4.1" },
  { name: "tavily", package: "tavily-mcp", version: "0.2.22" },
  { name: "mapbox", package: "@mapbox/mcp-server", version: "0.14.0" },
  { name: "chart", package: "@antv/mcp-server-chart", version: "0.9.10" },
  { name: "magicui", package: "@magicuidesign/mcp", version: "2.0.0" },
  { name: "pinecone", package: "@pinecone-database/mcp", version: "0.3.0" },
  { name: "circleci", package: "@circleci/mcp-server-circleci", version: "0.20.0" },
  { name: "nx", package: "nx-mcp", version: "0.25.0" },
  { name: "browsermcp", package: "@browsermcp/mcp", version: "0.1.3" },
  {
    name: "obsidian",
    package: "obsidian-mcp",
    version: "2.0.1",
    args: ["serve", "--vault", "mine=$PWD"],
  },
  { name: "searxng", package: "mcp-searxng", version: "2.4.0" },
  { name: "fetch", package: "mcp-fetch-server", version: "1.1.2" },
];

/** They miss a token, an address or an account, and have to say so. */
const refusing: Candidate[] = [
  {
    name: "gitlab",
    package: "@modelcontextprotocol/server-gitlab",
    version: "2025.4.25",
    needs: "GITLAB_PERSONAL_ACCESS_TOKEN",
  },
  {
    name: "slack",
    package: "@modelcontextprotocol/server-slack",
    version: "2025.4.25",
    needs: "SLACK_BOT_TOKEN",
  },
  {
    name: "postgres",
    package: "@modelcontextprotocol/server-postgres",
    version: "0.6.2",
    needs: "a database URL",
  },
  {
    name: "redis",
    package: "@modelcontextprotocol/server-redis",
    version: "2025.4.25",
    needs: "ECONNREFUSED 127.0.0.1:6379",
  },
  {
    name: "maps",
    package: "@modelcontextprotocol/server-google-maps",
    version: "0.6.2",
    needs: "GOOGLE_MAPS_API_KEY",
  },
  { name: "brave", package: "@brave/brave-search-mcp-server", version: "2.1.4", needs: "BRAVE_API_KEY" },
  {
    name: "figma",
    package: "figma-developer-mcp",
    version: "0.13.2",
    args: ["--stdio"],
    needs: "FIGMA_API_KEY",
  },
  { name: "sentry", package: "@sentry/mcp-server", version: "0.39.0", needs: "No access token" },
  { name: "stripe", package: "@stripe/mcp", version: "0.3.3", needs: "STRIPE_SECRET_KEY" },
  {
    name: "supabase",
    package: "@supabase/mcp-server-supabase",
    version: "0.13.0",
    needs: "SUPABASE_ACCESS_TOKEN",
  },
  { name: "heroku", package: "@heroku/mcp-server", version: "1.2.8", needs: "Cannot find module" },
  { name: "hubspot", package: "@hubspot/mcp-server", version: "0.4.0", needs: "PRIVATE_APP_ACCESS_TOKEN" },
  {
    name: "elastic",
    package: "@elastic/mcp-server-elasticsearch",
    version: "0.3.1",
    needs: "Elasticsearch URL",
  },
  { name: "mysql", package: "@benborla29/mcp-server-mysql", version: "2.0.9", needs: "It printed nothing" },
  { name: "apify", package: "@apify/actors-mcp-server", version: "0.16.0", needs: "APIFY_TOKEN" },
  {
    name: "desktop-commander",
    package: "@wonderwhy-er/desktop-commander",
    version: "0.2.52",
    needs: "No matching version found",
  },
  { name: "magic", package: "@21st-dev/magic", version: "0.2.3", needs: "API key is missing" },
  {
    name: "neon",
    package: "@neondatabase/mcp-server-neon",
    version: "0.6.5",
    needs: "cannot reach codeload.github.com",
  },
  {
    name: "auth0",
    package: "@auth0/auth0-mcp-server",
    version: "0.1.0-beta.19",
    needs: "Usage: auth0-mcp-server",
  },
  { name: "railway", package: "@railway/mcp-server", version: "0.1.12", needs: "is deprecated" },
  { name: "perplexity", package: "@perplexity-ai/mcp-server", version: "1.2.1", needs: "PERPLEXITY_API_KEY" },
  { name: "paddle", package: "@paddle/paddle-mcp", version: "0.1.6", needs: "PADDLE_API_KEY" },
  { name: "airtable", package: "airtable-mcp-server", version: "1.14.0", needs: "AIRTABLE_API_KEY" },
  { name: "svelte", package: "@sveltejs/mcp", version: "0.1.26", needs: "ENOTFOUND svelte.dev" },
  {
    name: "calendar",
    package: "@cocal/google-calendar-mcp",
    version: "2.6.3",
    needs: "OAuth credentials not found",
  },
  {
    name: "gmail",
    package: "@gongrzhe/server-gmail-autoauth-mcp",
    version: "1.1.11",
    needs: "OAuth keys file not found",
  },
  { name: "linear", package: "@tacticlaunch/mcp-linear", version: "1.4.3", needs: "LINEAR_API_TOKEN" },
  {
    name: "postman",
    package: "@postman/postman-mcp-server",
    version: "2.13.0",
    needs: "POSTMAN_API_KEY is missing",
  },
  { name: "twilio", package: "@twilio-alpha/mcp", version: "0.7.0", needs: "Invalid AccountSid" },
  { name: "datadog", package: "@winor30/mcp-server-datadog", version: "1.8.0", needs: "DATADOG_API_KEY" },
  { name: "deepl", package: "deepl-mcp-server", version: "0.1.3-beta.0", needs: "authKey" },
];

export const candidates: readonly Candidate[] = [...callable, ...started, ...refusing];

/** What a person types behind `plugboard add NAME --`. */
export function commandOf({ package: wanted, version, args = [] }: Candidate, folder: string): string[] {
  const given = args.map((word) => word.replaceAll("$PWD", folder));
  return ["npx", "-y", `${wanted}@${version}`, ...given];
}
