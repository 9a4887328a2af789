import * as z from "zod/mini";
import { approval, elicitationMode, field, output, retry, serverSchema } from "./server-schema.ts";

export const bundleSchema = z.strictObject({
  servers: field(z.array(z.string()).check(z.minLength(1)), "The servers whose tools the bundle contains.", [
    "files",
  ]),
  serverId: field(z.string(), "The same for a single server.", "files"),
  mode: field(
    z.enum(["direct", "meta"]),
    "`direct` offers the tools themselves. `meta` offers tools to search, describe and call them instead.",
    "direct",
  ),
  tools: field(
    z.strictObject({
      allow: field(
        z.array(z.string()),
        "Only these tools. `*` and `?` are wildcards. An empty list is an error.",
        ["read_*"],
      ),
      deny: field(z.array(z.string()), "Never these tools, even if `allow` lists them.", ["read_secret"]),
    }),
    "Narrows down the tools. A tool must pass both the server's rules and the bundle's.",
    { allow: ["read_*"] },
  ),
  description: field(z.string(), "What the bundle is for.", "Reading the notes"),
});

export type BundleConfig = z.output<typeof bundleSchema>;

/** Top-level keys other than servers and bundles. */
export const settingsSchema = z.strictObject({
  plugins: field(z.array(z.string()), "Folders of plugins that define servers.", ["./plugins/search"]),
  naming: field(
    z.strictObject({
      style: field(z.enum(["mcp", "server"]), "`mcp__server__tool` or `server__tool`.", "mcp"),
      maxLength: field(z.int().check(z.minimum(24), z.maximum(128)), "The maximum length of an ID.", 64),
    }),
    "How to build tool IDs.",
    { style: "mcp", maxLength: 64 },
  ),
  toolSearch: field(
    z.union([z.boolean(), z.string().check(z.regex(/^(auto(:\d{1,3})?|true|false)$/))], {
      error: "expected `auto`, `auto:N` (percent of the context), true or false",
    }),
    "When to replace tool definitions with a search tool.",
    "auto",
  ),
  contextTokens: field(
    z.int().check(z.minimum(1000)),
    "The size of the model's context, for `toolSearch`.",
    200_000,
  ),
  profiles: field(
    z.record(z.string(), z.string().check(z.minLength(1))),
    "Which account to use, by server. Overrides the server's own `oauth.profile`, even if the server is configured in another file.",
    { issues: "work" },
  ),
  output: field(output, "How large results may be, for all servers.", { maxTokens: 25_000 }),
  approval: field(approval, "The default for servers that do not set it.", "auto"),
  elicitation: field(elicitationMode, "The default for servers that do not set it.", "ask"),
  startConcurrency: field(z.int().check(z.minimum(1), z.maximum(100)), "How many servers start at once.", 8),
  retry: field(retry, "The default for servers that do not set it.", { attempts: 2 }),
  store: field(
    z.string().check(z.minLength(1)),
    "Where to store state: `memory`, the path of a SQLite file, or a `redis://` URL.",
    "memory",
  ),
  gateway: field(
    z.strictObject({
      host: field(z.string(), "The address to listen on.", "127.0.0.1"),
      port: field(z.int().check(z.minimum(0), z.maximum(65_535)), "The port to listen on.", 7420),
      auth: field(z.string(), "How clients authenticate.", "token"),
      keys: field(z.record(z.string(), z.unknown()), "API keys by caller.", {}),
      limits: field(z.record(z.string(), z.unknown()), "Rate limits.", {}),
      audit: field(z.union([z.boolean(), z.record(z.string(), z.unknown())]), "The audit trail.", true),
      headers: field(z.record(z.string(), z.unknown()), "Headers to pass on to servers.", {}),
      names: field(z.record(z.string(), z.unknown()), "How the gateway names tools.", {}),
    }),
    "Settings for `plugboard serve`.",
    { host: "127.0.0.1", port: 7420 },
  ),
  chat: field(z.record(z.string(), z.unknown()), "Settings for `plugboard chat`.", {
    model: "gpt-5",
  }),
});

export type Settings = z.output<typeof settingsSchema>;

/** The whole file, for editors and the reference. Loading checks servers, bundles and settings one by one. */
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

/** The JSON Schema for editors, generated from the schema that validates files. */
export function configJsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(configSchema, {
    io: "input",
    unrepresentable: "any",
    reused: "inline",
  });
  return { $schema, title: "Plugboard configuration", ...schema };
}
