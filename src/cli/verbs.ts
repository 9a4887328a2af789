import type { Command } from "commander";
import type { Terminal } from "./terminal/terminal.ts";

export interface VerbEntry {
  name: string;
  /** A shorter name that people type. */
  alias?: string;
  summary: string;
  group: string;
  /** Each verb is a separate module, loaded only when used, to keep the start fast. */
  load(): Promise<{ command(terminal: Terminal): Command }>;
}

/** Every verb, in the order in which `--help` shows them. */
export const verbs: readonly VerbEntry[] = [
  { name: "add", summary: "add a server", group: "Configure", load: () => import("./commands/add.ts") },
  {
    name: "add-json",
    summary: "add a server from JSON",
    group: "Configure",
    load: () => import("./commands/add-json.ts"),
  },
  {
    name: "remove",
    alias: "rm",
    summary: "remove a server",
    group: "Configure",
    load: () => import("./commands/remove.ts"),
  },
  {
    name: "enable",
    summary: "enable a server",
    group: "Configure",
    load: async () => ({ command: (await import("./commands/switch.ts")).enable }),
  },
  {
    name: "disable",
    summary: "disable a server",
    group: "Configure",
    load: async () => ({ command: (await import("./commands/switch.ts")).disable }),
  },
  {
    name: "import",
    summary: "import servers from other clients",
    group: "Configure",
    load: () => import("./commands/import.ts"),
  },
  {
    name: "export",
    summary: "export servers to another client's format",
    group: "Configure",
    load: () => import("./commands/export.ts"),
  },
  {
    name: "sync",
    summary: "compare with other clients' files, and update them",
    group: "Configure",
    load: () => import("./commands/sync.ts"),
  },
  {
    name: "client",
    summary: "connect other clients to the gateway",
    group: "Configure",
    load: () => import("./commands/client.ts"),
  },
  {
    name: "trust",
    summary: "review a project's servers and allow them",
    group: "Configure",
    load: () => import("./commands/trust.ts"),
  },
  {
    name: "lock",
    summary: "pin what servers offer, and approve what changed",
    group: "Configure",
    load: () => import("./commands/lock.ts"),
  },
  {
    name: "list",
    alias: "ls",
    summary: "list the configured servers",
    group: "Inspect",
    load: () => import("./commands/list.ts"),
  },
  {
    name: "status",
    summary: "connect and show the state of every server",
    group: "Inspect",
    load: () => import("./commands/status.ts"),
  },
  {
    name: "check",
    summary: "tell a script whether tools are ready",
    group: "Inspect",
    load: () => import("./commands/check.ts"),
  },
  {
    name: "get",
    summary: "show one server's configuration",
    group: "Inspect",
    load: () => import("./commands/get.ts"),
  },
  {
    name: "explain",
    summary: "explain the state of a server or tool",
    group: "Inspect",
    load: () => import("./commands/explain.ts"),
  },
  {
    name: "doctor",
    summary: "find problems and suggest fixes",
    group: "Inspect",
    load: () => import("./commands/doctor.ts"),
  },
  {
    name: "logs",
    summary: "show the recent output of a server",
    group: "Inspect",
    load: () => import("./commands/logs.ts"),
  },
  {
    name: "verify",
    summary: "compare what servers offer with plugboard.lock",
    group: "Inspect",
    load: () => import("./commands/verify.ts"),
  },
  {
    name: "config",
    summary: "show, locate and validate the configuration",
    group: "Inspect",
    load: () => import("./commands/config.ts"),
  },
  {
    name: "tools",
    summary: "list tools, or show one",
    group: "Use",
    load: () => import("./commands/tools.ts"),
  },
  {
    name: "search",
    summary: "find tools by what they do",
    group: "Use",
    load: () => import("./commands/search.ts"),
  },
  { name: "call", summary: "call a tool", group: "Use", load: () => import("./commands/call.ts") },
  {
    name: "result",
    summary: "page through or search a large result",
    group: "Use",
    load: () => import("./commands/result.ts"),
  },
  {
    name: "resources",
    summary: "list resources",
    group: "Use",
    load: () => import("./commands/resources.ts"),
  },
  {
    name: "read",
    summary: "read a resource",
    group: "Use",
    load: () => import("./commands/read.ts"),
  },
  {
    name: "prompts",
    summary: "list prompts",
    group: "Use",
    load: () => import("./commands/prompts.ts"),
  },
  {
    name: "prompt",
    summary: "fill in a prompt and show it",
    group: "Use",
    load: () => import("./commands/prompt.ts"),
  },
  {
    name: "request",
    summary: "send a raw request to a server",
    group: "Use",
    load: () => import("./commands/request.ts"),
  },
  {
    name: "chat",
    summary: "talk with a model that uses the servers' tools",
    group: "Use",
    load: () => import("./commands/chat.ts"),
  },
  {
    name: "stop",
    summary: "stop servers that are kept running",
    group: "Use",
    load: () => import("./commands/stop.ts"),
  },
  {
    name: "approvals",
    summary: "answer calls that wait for approval, and revoke answers",
    group: "Use",
    load: () => import("./commands/approvals.ts"),
  },
  {
    name: "serve",
    summary: "offer all servers as one, over HTTP or stdio",
    group: "Use",
    load: () => import("./commands/serve.ts"),
  },
  {
    name: "login",
    summary: "log in to a remote server",
    group: "Credentials",
    load: () => import("./commands/login.ts"),
  },
  {
    name: "logout",
    summary: "log out of a remote server",
    group: "Credentials",
    load: () => import("./commands/logout.ts"),
  },
  {
    name: "secret",
    summary: "manage encrypted values for ${secret:NAME}",
    group: "Credentials",
    load: () => import("./commands/secret.ts"),
  },
  {
    name: "completion",
    summary: "print a shell completion script",
    group: "Other",
    load: () => import("./commands/completion.ts"),
  },
];
