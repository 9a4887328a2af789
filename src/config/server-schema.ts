import * as z from "zod";

/** A field with the sentence and the example that the reference and editors show for it. */
export function field<T extends z.ZodType>(schema: T, description: string, example: unknown): T {
  return schema.meta({ description, examples: [example] });
}

const text = z.string();
const texts = z.array(z.string());
const milliseconds = z.int().min(1).max(86_400_000);
const tokens = z.int().min(1).max(100_000_000);
export const approvalMode = z.enum(["approve", "auto", "prompt", "deny"]);
export const elicitationMode = z.enum(["ask", "decline"]);

export const approval = z.union(
  [
    approvalMode,
    z.strictObject({ default: approvalMode.optional(), tools: z.record(text, approvalMode).optional() }),
  ],
  { error: "expected `approve`, `auto`, `prompt`, `deny`, or `{ default, tools }`" },
);

export const retry = z.strictObject({
  attempts: field(
    z.int().min(0).max(5),
    "How often a call that is safe to repeat is tried again.",
    2,
  ).optional(),
  timeouts: field(
    z.boolean(),
    "Whether a timed-out call of a read-only or idempotent tool is tried again.",
    false,
  ).optional(),
});

const outputLimits = {
  warnTokens: field(tokens, "Results above this estimate are flagged.", 10_000).optional(),
  maxTokens: field(
    tokens,
    "Results above this estimate are cut; the whole is kept under a handle.",
    25_000,
  ).optional(),
  media: field(z.enum(["keep", "drop"]), "Whether images and audio are passed on.", "keep").optional(),
};

export const output = z.strictObject({
  ...outputLimits,
  tools: field(z.record(text, z.strictObject(outputLimits)), "Limits by tool; names may hold `*`.", {
    "read_*": { maxTokens: 50_000 },
  }).optional(),
});

const toolRules = z.strictObject({
  allow: field(texts, "Only these tools are offered; `*` and `?` match. An empty list is an error.", [
    "search_*",
  ]).optional(),
  deny: field(texts, "These tools are never offered, whatever `allow` says.", ["delete_*"]).optional(),
  rename: field(z.record(text, text), "Other names for tools, by the server's own name.", {
    search_issues: "search",
  }).optional(),
  annotations: field(
    z.record(text, z.record(text, z.unknown())),
    "Corrections to what the server says about its tools; names may hold `*`.",
    { "get_*": { readOnlyHint: true } },
  ).optional(),
});

const oauth = z.strictObject({
  clientId: field(text, "A client registered beforehand.", "plugboard-dev").optional(),
  clientSecret: field(
    text,
    "Its secret; use a reference, not the secret itself.",
    "${secret:ISSUES_CLIENT}",
  ).optional(),
  clientMetadataUrl: field(
    text,
    "A client-ID metadata document.",
    "https://me.example/client.json",
  ).optional(),
  scopes: field(
    z.union([texts, text.transform((list) => list.split(/\s+/).filter(Boolean))], {
      error: "expected a list of scopes, or one string with spaces between them",
    }),
    "Scopes to ask for when the server does not say.",
    ["issues:read"],
  ).optional(),
  callbackPort: field(z.int().min(1).max(65_535), "A fixed port for the login's callback.", 8765).optional(),
  issuer: field(text, "The only authorization server that is accepted.", "https://login.example").optional(),
  profile: field(text, "Which of several accounts to use.", "work").optional(),
});

const sandboxProfile = z.strictObject({
  kind: field(z.literal("bwrap"), "How the server is confined.", "bwrap"),
  read: field(texts, "Folders it may read.", ["/usr", "${HOME}/notes"]).optional(),
  write: field(texts, "Folders it may change.", ["./data"]).optional(),
  network: field(z.boolean(), "Whether it may use the network.", false).optional(),
  env: field(texts, "Variables it may see.", ["PATH"]).optional(),
});

const network = z.strictObject({
  proxy: field(
    text,
    "A proxy for this server; `none` ignores the proxy variables.",
    "http://127.0.0.1:3128",
  ).optional(),
  ca: field(text, "A file with certificates to trust besides the system's.", "./company-ca.pem").optional(),
  cert: field(text, "A client certificate.", "./client.pem").optional(),
  key: field(text, "The client certificate's key.", "./client.key").optional(),
});

export const serverSchema = z.strictObject({
  type: field(
    z.enum(["stdio", "http", "sse"]),
    "The transport; inferred from `command` or `url` when absent. `streamable-http`, `local` and `remote` are understood.",
    "http",
  ).optional(),
  command: field(text.min(1), "The program of a stdio server. No shell is involved.", "npx").optional(),
  args: field(texts, "Its arguments.", [
    "-y",
    "@modelcontextprotocol/server-filesystem",
    "${HOME}/notes",
  ]).optional(),
  cwd: field(text, "Its working folder; relative to the configuration file.", "./server").optional(),
  env: field(z.record(text, text), "Variables for the server, besides a minimal environment.", {
    LOG_LEVEL: "info",
  }).optional(),
  inheritEnv: field(texts, "Variables handed on from Plugboard's own environment; `*` matches.", [
    "AWS_*",
  ]).optional(),
  url: field(text.min(1), "The address of a remote server.", "https://issues.example/mcp").optional(),
  headers: field(z.record(text, text), "Headers for every request.", {
    Authorization: "Bearer ${secret:ISSUES_TOKEN}",
  }).optional(),
  headersFromEnv: field(z.record(text, text), "Headers whose values are read from variables.", {
    "X-Api-Key": "ISSUES_KEY",
  }).optional(),
  bearerTokenEnv: field(text, "The variable that holds a bearer token.", "ISSUES_TOKEN").optional(),
  headersHelper: field(
    z.union([texts.min(1), text.min(1)], { error: "expected a command as a list of words" }),
    "A command that prints headers (JSON or `Name: value` lines); run again after a 401.",
    ["./get-headers", "--json"],
  ).optional(),
  enabled: field(z.boolean(), "`false` switches the server off.", true).optional(),
  required: field(
    z.boolean(),
    "Starting fails when this server does not start. Implies an eager start.",
    false,
  ).optional(),
  lazy: field(z.boolean(), "Whether the server is started only when it is needed.", true).optional(),
  startupTimeoutMs: field(milliseconds, "How long the start may take. Default 30 s.", 30_000).optional(),
  callTimeoutMs: field(
    milliseconds,
    "How long a call may take without progress. Default 60 s.",
    60_000,
  ).optional(),
  maxCallTimeoutMs: field(
    milliseconds,
    "How long a call may take at all. Default 10 min.",
    600_000,
  ).optional(),
  tools: field(toolRules, "Which tools are offered, and under which names.", {
    allow: ["search_*"],
    deny: ["search_secrets"],
  }).optional(),
  untrusted: field(
    z.boolean(),
    "The server is not believed: an allow list is required, its annotations count for nothing.",
    true,
  ).optional(),
  approval: field(approval, "Whether calls are approved, asked about or denied.", "auto").optional(),
  elicitation: field(
    elicitationMode,
    "Whether the server's questions are asked or declined.",
    "ask",
  ).optional(),
  retry: field(retry, "What is repeated after a failure.", { attempts: 2 }).optional(),
  oauth: field(oauth, "How to log in.", { clientId: "plugboard-dev", scopes: ["issues:read"] }).optional(),
  auth: field(
    text,
    "`oauth`, `none`, or the id of a provider that the host program supplies.",
    "oauth",
  ).optional(),
  protocol: field(z.enum(["auto", "modern", "legacy"]), "Pins the protocol era.", "auto").optional(),
  isolation: field(
    z.enum(["shared", "caller", "call"]),
    "One connection for everybody, one for each caller, or one for each call.",
    "shared",
  ).optional(),
  output: field(output, "How large results may be.", { maxTokens: 25_000 }).optional(),
  cacheTtlMs: field(
    z.int().min(0).max(86_400_000),
    "How long a list of tools counts as fresh.",
    3_600_000,
  ).optional(),
  sandbox: field(
    z.union([z.enum(["none", "bwrap"]), sandboxProfile], {
      error: 'expected `none`, `bwrap`, or `{ kind: "bwrap", read, write, network, env }`',
    }),
    "Confines a stdio server with bubblewrap.",
    "bwrap",
  ).optional(),
  network: field(network, "Proxy and certificates for a remote server.", {
    ca: "./company-ca.pem",
  }).optional(),
  maxLineBytes: field(
    z.int().min(1024).max(1_073_741_824),
    "The longest message accepted. Default 32 MB.",
    33_554_432,
  ).optional(),
  alwaysLoad: field(
    z.union([z.boolean(), texts], { error: "expected true, false or a list of tools" }),
    "These tools are always offered in full, never deferred to tool search.",
    true,
  ).optional(),
});

/** What somebody wrote about one server, checked, with its `${…}` references still in place. */
export type ServerConfig = z.output<typeof serverSchema>;
