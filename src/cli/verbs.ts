import type { Command } from "commander";
import type { Terminal } from "./terminal/terminal.ts";

export interface VerbEntry {
  name: string;
  summary: string;
  group: string;
  /** Each verb is its own module, loaded only when it is used: starting fast is a feature. */
  load(): Promise<{ command(terminal: Terminal): Command }>;
}

/** Every verb, in the order in which `--help` shows them. */
export const verbs: readonly VerbEntry[] = [
  { name: "add", summary: "add a server", group: "Configure", load: () => import("./commands/add.ts") },
  {
    name: "add-json",
    summary: "add a server given as JSON",
    group: "Configure",
    load: () => import("./commands/add-json.ts"),
  },
  {
    name: "remove",
    summary: "remove a server",
    group: "Configure",
    load: () => import("./commands/remove.ts"),
  },
  {
    name: "enable",
    summary: "switch a server on",
    group: "Configure",
    load: async () => ({ command: (await import("./commands/switch.ts")).enable }),
  },
  {
    name: "disable",
    summary: "switch a server off",
    group: "Configure",
    load: async () => ({ command: (await import("./commands/switch.ts")).disable }),
  },
  {
    name: "import",
    summary: "take over servers from other clients",
    group: "Configure",
    load: () => import("./commands/import.ts"),
  },
  {
    name: "export",
    summary: "write servers in another client's format",
    group: "Configure",
    load: () => import("./commands/export.ts"),
  },
  {
    name: "trust",
    summary: "look at a project's servers and allow them",
    group: "Configure",
    load: () => import("./commands/trust.ts"),
  },
  {
    name: "list",
    summary: "list the configured servers",
    group: "Look",
    load: () => import("./commands/list.ts"),
  },
  {
    name: "status",
    summary: "connect, and show how every server is",
    group: "Look",
    load: () => import("./commands/status.ts"),
  },
  {
    name: "get",
    summary: "show one server's configuration",
    group: "Look",
    load: () => import("./commands/get.ts"),
  },
  {
    name: "explain",
    summary: "say why a server is as it is",
    group: "Look",
    load: () => import("./commands/explain.ts"),
  },
  {
    name: "doctor",
    summary: "look for problems and say how to solve them",
    group: "Look",
    load: () => import("./commands/doctor.ts"),
  },
  {
    name: "config",
    summary: "paths, effective values, schema and validation",
    group: "Look",
    load: () => import("./commands/config.ts"),
  },
  {
    name: "tools",
    summary: "list the tools, or show one",
    group: "Use",
    load: () => import("./commands/tools.ts"),
  },
  { name: "call", summary: "call a tool", group: "Use", load: () => import("./commands/call.ts") },
  {
    name: "result",
    summary: "read a large result page by page, or search in it",
    group: "Use",
    load: () => import("./commands/result.ts"),
  },
  {
    name: "resources",
    summary: "list what can be read",
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
    summary: "list the prompts",
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
    name: "login",
    summary: "log in to a remote server",
    group: "Credentials",
    load: () => import("./commands/login.ts"),
  },
  {
    name: "logout",
    summary: "revoke and forget a login",
    group: "Credentials",
    load: () => import("./commands/logout.ts"),
  },
  {
    name: "secret",
    summary: "keep values for ${secret:NAME}, encrypted",
    group: "Credentials",
    load: () => import("./commands/secret.ts"),
  },
  {
    name: "completion",
    summary: "print a completion script for a shell",
    group: "Other",
    load: () => import("./commands/completion.ts"),
  },
];
