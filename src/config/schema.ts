import * as z from "zod";
import { approval, elicitationMode, field, output, retry, serverSchema } from "./server-schema.ts";

export const bundleSchema = z.strictObject({
  servers: field(z.array(z.string()).min(1), "The servers whose tools are in the bundle.", [
    "files",
  ]).optional(),
  serverId: field(z.string(), "The same for a single server.", "files").optional(),
  mode: field(
    z.enum(["direct", "meta"]),
    "`direct` offers the tools themselves, `meta` a search, describe and call tool in their place.",
    "direct",
  ).optional(),
  tools: field(
    z.strictObject({
      allow: field(z.array(z.string()), "Only these tools; `*` and `?` match. An empty list is an error.", [
        "read_*",
      ]).optional(),
      deny: field(z.array(z.string()), "Never these, whatever `allow` says.", ["read_secret"]).optional(),
    }),
    "Narrows the servers' tools further; a tool must pass the server's rules and the bundle's.",
    { allow: ["read_*"] },
  ).optional(),
  description: field(z.string(), "What the bundle is for.", "Reading the notes").optional(),
});

export type BundleConfig = z.output<typeof bundleSchema>;

/** Top-level keys beside servers and bundles. */
export const settingsSchema = z.strictObject({
  plugins: field(z.array(z.string()), "Folders that bring servers of their own.", [
    "./plugins/search",
  ]).optional(),
  naming: field(
    z.strictObject({
      style: field(
        z.enum(["mcp", "server", "tool"]),
        "`mcp__server__tool`, `server__tool` or the bare tool name.",
        "mcp",
      ).optional(),
      maxLength: field(z.int().min(24).max(128), "The longest id.", 64).optional(),
    }),
    "How tool ids are built.",
    { style: "mcp", maxLength: 64 },
  ).optional(),
  toolSearch: field(
    z.union([z.boolean(), z.string().regex(/^(auto(:\d{1,3})?|true|false)$/)], {
      error: "expected `auto`, `auto:N` (percent of the context), true or false",
    }),
    "When tool definitions give way to a search tool.",
    "auto",
  ).optional(),
  contextTokens: field(
    z.int().min(1000),
    "The size of the model's context, for `toolSearch`.",
    200_000,
  ).optional(),
  output: field(output, "How large results may be, for all servers.", { maxTokens: 25_000 }).optional(),
  approval: field(approval, "The default for servers that say nothing.", "auto").optional(),
  elicitation: field(elicitationMode, "The default for servers that say nothing.", "ask").optional(),
  startConcurrency: field(z.int().min(1).max(100), "How many servers start at once.", 8).optional(),
  retry: field(retry, "The default for servers that say nothing.", { attempts: 2 }).optional(),
  store: field(
    z.string().min(1),
    "Where state is kept: `memory`, a path of a SQLite file, or a `redis://` address.",
    "memory",
  ).optional(),
  gateway: field(
    z.strictObject({
      host: field(z.string(), "The address to listen on.", "127.0.0.1").optional(),
      port: field(z.int().min(0).max(65_535), "The port to listen on.", 7420).optional(),
      auth: field(z.string(), "How clients prove who they are.", "token").optional(),
      keys: field(z.record(z.string(), z.unknown()), "API keys by caller.", {}).optional(),
      limits: field(z.record(z.string(), z.unknown()), "Rate limits.", {}).optional(),
      audit: field(
        z.union([z.boolean(), z.record(z.string(), z.unknown())]),
        "The audit trail.",
        true,
      ).optional(),
      headers: field(z.record(z.string(), z.unknown()), "Headers handed on to servers.", {}).optional(),
      names: field(z.record(z.string(), z.unknown()), "How the gateway names tools.", {}).optional(),
    }),
    "Settings of `plugboard serve`.",
    { host: "127.0.0.1", port: 7420 },
  ).optional(),
  chat: field(z.record(z.string(), z.unknown()), "Settings of `plugboard chat`.", {
    model: "gpt-5",
  }).optional(),
});

export type Settings = z.output<typeof settingsSchema>;

/** The whole file, for editors and the reference; loading checks servers, bundles and settings one by one. */
export const configSchema = z.strictObject({
  $schema: z.string().meta({ description: "Where editors find this schema." }).optional(),
  mcpServers: field(z.record(z.string(), serverSchema), "The servers, by name. `servers` means the same.", {
    files: { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "${HOME}/notes"] },
  }).optional(),
  servers: z.record(z.string(), serverSchema).meta({ description: "The same as `mcpServers`." }).optional(),
  bundles: field(z.record(z.string(), bundleSchema), "Named, narrowed sets of tools.", {
    reading: { servers: ["files"], mode: "direct", tools: { allow: ["read_*"] } },
  }).optional(),
  ...settingsSchema.shape,
});
