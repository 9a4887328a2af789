import * as z from "zod/mini";
import { approval } from "./approval/schema.ts";
import { approvals } from "./approvals-schema.ts";
import { chat } from "./chat-schema.ts";
import { gateway } from "./gateway-schema.ts";
import { isRemoteStore, remoteStore, unfilledStore } from "./not-yet.ts";
import { elicitationMode, field, keepWarm, output, retry, serverSchema } from "./server-schema.ts";

export const bundleSchema = z.strictObject({
  servers: field(
    z.array(z.string()).check(z.minLength(1)),
    "The servers whose tools the bundle contains.",
    ["files"],
    "text",
  ),
  serverId: field(z.string(), "The same for a single server.", "files", "text"),
  mode: field(
    z.enum(["direct", "meta"]),
    "`direct` offers the tools themselves. `meta` offers tools to search, describe and call them instead. Default: as `toolSearch` says.",
    "direct",
  ),
  tools: field(
    z.strictObject({
      allow: field(
        z.array(z.string()),
        "Only these tools. `*` and `?` are wildcards. An empty list is an error.",
        ["read_*"],
        "text",
      ),
      deny: field(
        z.array(z.string()),
        "Never these tools, even if `allow` lists them.",
        ["read_secret"],
        "text",
      ),
    }),
    "Narrows down the tools. A tool must pass both the server's rules and the bundle's.",
    { allow: ["read_*"] },
  ),
  description: field(
    z.string(),
    "What the bundle is for. Shown with the configuration.",
    "Reading the notes",
    "text",
  ),
});

/** A bundle: a named choice of servers and tools. */
export type BundleConfig = z.output<typeof bundleSchema>;

/** Top-level keys other than servers and bundles. */
export const settingsSchema = z.strictObject({
  plugins: field(
    z.array(z.string()),
    "Folders of plugins that define servers.",
    ["./plugins/search"],
    "word",
  ),
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
    "When models get `search_tools`, `describe_tools` and `call_tool` instead of all tools: `auto` (the default) if their definitions take more than 10 % of `contextTokens`, `auto:N` for N %, always, or never. Without it the variables `PLUGBOARD_TOOL_SEARCH` and `ENABLE_TOOL_SEARCH` count.",
    "auto",
    "text",
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
    "text",
  ),
  output: field(output, "How large results may be, for all servers.", { maxTokens: 25_000 }),
  approval: field(approval, "The default for servers that do not set it.", "auto"),
  approvals: field(
    approvals,
    "Calls that wait until somebody approves them. Only in your own configuration, never in a project's.",
    { queue: true, expireMs: 3_600_000 },
  ),
  elicitation: field(elicitationMode, "The default for servers that do not set it.", "ask"),
  inheritEnv: field(
    z.array(z.string().check(z.minLength(1))),
    "Variables that all programs get from Plugboard's own environment, besides those of their own `inheritEnv`. `*` is a wildcard. Only in your own configuration, never in a project's.",
    ["CORPORATE_*"],
    "word",
  ),
  startConcurrency: field(z.int().check(z.minimum(1), z.maximum(100)), "How many servers start at once.", 8),
  installConcurrency: field(
    z.int().check(z.minimum(1), z.maximum(100)),
    "How many package launchers install their server at once. They do not count as starts.",
    16,
  ),
  keepWarm: field(
    keepWarm,
    "The default for servers that do not set it. Only in your own configuration, never in a project's.",
    60_000,
  ),
  retry: field(retry, "The default for servers that do not set it.", { attempts: 2 }),
  store: field(
    z.string().check(
      z.minLength(1),
      z.refine((setting) => !isRemoteStore(setting), remoteStore),
      z.refine((setting) => !setting.includes("${"), unfilledStore),
    ),
    "Where to store state: `memory`, or the path of a SQLite file.",
    "memory",
    "word",
  ),
  secrets: field(
    z.strictObject({
      envFiles: field(
        z.array(z.string().check(z.minLength(1))),
        "`.env` files for `${secret:NAME}`, after the vault and the environment. Only in your own configuration, never in a project's.",
        ["~/.config/plugboard/tokens.env"],
        "word",
      ),
    }),
    "Where else to look for secrets.",
    { envFiles: ["~/.config/plugboard/tokens.env"] },
  ),
  gateway: field(gateway, "Settings for `plugboard serve`.", { port: 7420, names: { maxLength: 48 } }),
  chat: field(chat, "Settings for `plugboard chat`. Only in your own configuration, never in a project's.", {
    model: "gpt-5",
    key: "${secret:OPENAI_KEY}",
  }),
});

/** The settings beside servers and bundles. */
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
