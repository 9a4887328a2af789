import * as z from "zod/mini";
import { approval, elicitationMode, field, output, retry, serverSchema } from "./server-schema.ts";

export const bundleSchema = z.strictObject({
  servers: field(z.array(z.string()).check(z.minLength(1)), "The servers whose tools are in the bundle.", [
    "files",
  ]),
  serverId: field(z.string(), "The same for a single server.", "files"),
  mode: field(
    z.enum(["direct", "meta"]),
    "`direct` offers the tools themselves, `meta` a search, describe and call tool in their place.",
    "direct",
  ),
  tools: field(
    z.strictObject({
      allow: field(z.array(z.string()), "Only these tools; `*` and `?` match. An empty list is an error.", [
        "read_*",
      ]),
      deny: field(z.array(z.string()), "Never these, whatever `allow` says.", ["read_secret"]),
    }),
    "Narrows the servers' tools further; a tool must pass the server's rules and the bundle's.",
    { allow: ["read_*"] },
  ),
  description: field(z.string(), "What the bundle is for.", "Reading the notes"),
});

export type BundleConfig = z.output<typeof bundleSchema>;

/** Top-level keys other than servers and bundles. */
export const settingsSchema = z.strictObject({
  plugins: field(z.array(z.string()), "Folders that bring servers of their own.", ["./plugins/search"]),
  naming: field(
    z.strictObject({
      style: field(z.enum(["mcp", "server"]), "`mcp__server__tool` or `server__tool`.", "mcp"),
      maxLength: field(z.int().check(z.minimum(24), z.maximum(128)), "The longest id.", 64),
    }),
    "How tool ids are built.",
    { style: "mcp", maxLength: 64 },
  ),
  toolSearch: field(
    z.union([z.boolean(), z.string().check(z.regex(/^(auto(:\d{1,3})?|true|false)$/))], {
      error: "expected `auto`, `auto:N` (percent of the context), true or false",
    }),
    "When tool definitions give way to a search tool.",
    "auto",
  ),
  contextTokens: field(
    z.int().check(z.minimum(1000)),
    "The size of the model's context, for `toolSearch`.",
    200_000,
  ),
  profiles: field(
    z.record(z.string(), z.string().check(z.minLength(1))),
    "Which account to use, by server: comes before the server's own `oauth.profile`, also where the server is configured elsewhere.",
    { issues: "work" },
  ),
  output: field(output, "How large results may be, for all servers.", { maxTokens: 25_000 }),
  approval: field(approval, "The default for servers that say nothing.", "auto"),
  elicitation: field(elicitationMode, "The default for servers that say nothing.", "ask"),
  startConcurrency: field(z.int().check(z.minimum(1), z.maximum(100)), "How many servers start at once.", 8),
  retry: field(retry, "The default for servers that say nothing.", { attempts: 2 }),
  store: field(
    z.string().check(z.minLength(1)),
    "Where state is kept: `memory`, a path of a SQLite file, or a `redis://` address.",
    "memory",
  ),
  gateway: field(
    z.strictObject({
      host: field(z.string(), "The address to listen on.", "127.0.0.1"),
      port: field(z.int().check(z.minimum(0), z.maximum(65_535)), "The port to listen on.", 7420),
      auth: field(z.string(), "How clients prove who they are.", "token"),
      keys: field(z.record(z.string(), z.unknown()), "API keys by caller.", {}),
      limits: field(z.record(z.string(), z.unknown()), "Rate limits.", {}),
      audit: field(z.union([z.boolean(), z.record(z.string(), z.unknown())]), "The audit trail.", true),
      headers: field(z.record(z.string(), z.unknown()), "Headers handed on to servers.", {}),
      names: field(z.record(z.string(), z.unknown()), "How the gateway names tools.", {}),
    }),
    "Settings of `plugboard serve`.",
    { host: "127.0.0.1", port: 7420 },
  ),
  chat: field(z.record(z.string(), z.unknown()), "Settings of `plugboard chat`.", {
    model: "gpt-5",
  }),
});

export type Settings = z.output<typeof settingsSchema>;

/** The whole file, for editors and the reference; loading checks servers, bundles and settings one by one. */
export const configSchema = z.strictObject({
  $schema: field(
    z.string(),
    "Where editors find this schema.",
    "./node_modules/plugboard/config.schema.json",
  ),
  mcpServers: field(z.record(z.string(), serverSchema), "The servers, by name. `servers` means the same.", {
    files: { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "${HOME}/notes"] },
  }),
  servers: field(z.record(z.string(), serverSchema), "The same as `mcpServers`.", {}),
  bundles: field(z.record(z.string(), bundleSchema), "Named, narrowed sets of tools.", {
    reading: { servers: ["files"], mode: "direct", tools: { allow: ["read_*"] } },
  }),
  ...settingsSchema.shape,
});

/** The schema that editors use, from the same source that checks files. */
export function configJsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(configSchema, {
    io: "input",
    unrepresentable: "any",
    reused: "inline",
  });
  return { $schema, title: "Plugboard configuration", ...schema };
}
