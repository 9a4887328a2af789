import * as z from "zod/mini";

/** An optional field with the sentence and the example that the reference and editors show for it. */
export function field<T extends z.core.$ZodType>(
  schema: T,
  description: string,
  example: unknown,
): z.ZodMiniOptional<T> {
  const optional = z.optional(schema);
  z.globalRegistry.add(optional, { description, examples: [example] });
  return optional;
}

const text = z.string();
const texts = z.array(z.string());
const milliseconds = z.int().check(z.minimum(1), z.maximum(86_400_000));
const tokens = z.int().check(z.minimum(1), z.maximum(100_000_000));
const approvalMode = z.enum(["approve", "auto", "prompt", "deny"]);
export const elicitationMode = z.enum(["ask", "decline"]);

export const approval = z.union(
  [
    approvalMode,
    z.strictObject({ default: z.optional(approvalMode), tools: z.optional(z.record(text, approvalMode)) }),
  ],
  { error: "expected `approve`, `auto`, `prompt`, `deny`, or `{ default, tools }`" },
);

export const retry = z.strictObject({
  attempts: field(
    z.int().check(z.minimum(0), z.maximum(5)),
    "How often a call that is safe to repeat is tried again.",
    2,
  ),
  timeouts: field(
    z.boolean(),
    "Whether a timed-out call of a read-only or idempotent tool is tried again.",
    false,
  ),
});

const outputLimits = {
  warnTokens: field(tokens, "Results above this estimate are flagged.", 10_000),
  maxTokens: field(tokens, "Results above this estimate are cut; the whole is kept under a handle.", 25_000),
  media: field(z.enum(["keep", "drop"]), "Whether images and audio are passed on.", "keep"),
};

export const output = z.strictObject({
  ...outputLimits,
  check: field(
    z.enum(["error", "warn", "off"]),
    "What happens when a structured answer breaks the server's own output schema: a note beside it (the default), an error, or nothing.",
    "error",
  ),
  tools: field(z.record(text, z.strictObject(outputLimits)), "Limits by tool; names may hold `*`.", {
    "read_*": { maxTokens: 50_000 },
  }),
});

const toolRules = z.strictObject({
  allow: field(texts, "Only these tools are offered; `*` and `?` match. An empty list is an error.", [
    "search_*",
  ]),
  deny: field(texts, "These tools are never offered, whatever `allow` says.", ["delete_*"]),
  rename: field(z.record(text, text), "Other names for tools, by the server's own name.", {
    search_issues: "search",
  }),
  annotations: field(
    z.record(text, z.record(text, z.unknown())),
    "Corrections to what the server says about its tools; names may hold `*`.",
    { "get_*": { readOnlyHint: true } },
  ),
});

const identityProvider = z.strictObject({
  issuer: z.string().check(z.minLength(1)),
  clientId: z.string().check(z.minLength(1)),
  clientSecret: field(text, "The client's secret there.", "${secret:IDP_CLIENT}"),
});

const oauth = z.strictObject({
  clientId: field(text, "A client registered beforehand.", "plugboard-dev"),
  clientSecret: field(text, "Its secret; use a reference, not the secret itself.", "${secret:ISSUES_CLIENT}"),
  privateKey: field(
    text,
    "The client's private key instead of a secret, PEM or JWK; use a reference.",
    "${file:~/.keys/plugboard.pem}",
  ),
  grant: field(
    z.enum(["client-credentials", "jwt-bearer", "cross-app"]),
    "A login without a person: as the client itself, by a workload's token, or by a company's identity provider.",
    "client-credentials",
  ),
  assertion: field(
    text,
    "For `jwt-bearer` the workload's token, for `cross-app` the person's id token; read anew whenever it is needed.",
    "${file:/var/run/secrets/tokens/plugboard}",
  ),
  identityProvider: field(
    identityProvider,
    "For `cross-app`: who turns the id token into a grant for this server.",
    { issuer: "https://idp.example", clientId: "plugboard" },
  ),
  dpop: field(
    z.boolean(),
    "Whether tokens are bound to a key of ours. Default: when the server asks for it.",
    true,
  ),
  clientMetadataUrl: field(text, "A client-ID metadata document.", "https://me.example/client.json"),
  scopes: field(
    z.union(
      [
        texts,
        z.pipe(
          text,
          z.transform((list) => list.split(/\s+/).filter(Boolean)),
        ),
      ],
      {
        error: "expected a list of scopes, or one string with spaces between them",
      },
    ),
    "Scopes to ask for when the server does not say.",
    ["issues:read"],
  ),
  callbackPort: field(
    z.int().check(z.minimum(1), z.maximum(65_535)),
    "A fixed port for the login's callback.",
    8765,
  ),
  issuer: field(text, "The only authorization server that is accepted.", "https://login.example"),
  profile: field(text, "Which of several accounts to use.", "work"),
});

const sandboxProfile = z.strictObject({
  kind: z.literal("bwrap"),
  read: field(texts, "Folders it may read.", ["/usr", "${HOME}/notes"]),
  write: field(texts, "Folders it may change.", ["./data"]),
  network: field(z.boolean(), "Whether it may use the network.", false),
  env: field(texts, "Variables it may see.", ["PATH"]),
});

const network = z.strictObject({
  proxy: field(text, "A proxy for this server; `none` ignores the proxy variables.", "http://127.0.0.1:3128"),
  ca: field(text, "A file with certificates to trust besides the system's.", "./company-ca.pem"),
  cert: field(text, "A client certificate.", "./client.pem"),
  key: field(text, "The client certificate's key.", "./client.key"),
});

export const serverSchema = z.strictObject({
  type: field(
    z.enum(["stdio", "http", "sse"]),
    "The transport; inferred from `command` or `url` when absent. `streamable-http`, `local` and `remote` are understood.",
    "http",
  ),
  command: field(text.check(z.minLength(1)), "The program of a stdio server. No shell is involved.", "npx"),
  args: field(texts, "Its arguments.", ["-y", "@modelcontextprotocol/server-filesystem", "${HOME}/notes"]),
  cwd: field(
    text,
    "Its working folder, relative to the configuration file. Without it: the project for project and local scope, otherwise where you are.",
    "./server",
  ),
  env: field(z.record(text, text), "Variables for the server, besides a minimal environment.", {
    LOG_LEVEL: "info",
  }),
  inheritEnv: field(texts, "Variables handed on from Plugboard's own environment; `*` matches.", ["AWS_*"]),
  url: field(text.check(z.minLength(1)), "The address of a remote server.", "https://issues.example/mcp"),
  headers: field(z.record(text, text), "Headers for every request.", {
    Authorization: "Bearer ${secret:ISSUES_TOKEN}",
  }),
  headersFromEnv: field(z.record(text, text), "Headers whose values are read from variables.", {
    "X-Api-Key": "ISSUES_KEY",
  }),
  bearerTokenEnv: field(text, "The variable that holds a bearer token.", "ISSUES_TOKEN"),
  headersHelper: field(
    z.union([texts.check(z.minLength(1)), text.check(z.minLength(1))], {
      error: "expected a command as a list of words",
    }),
    "A command that prints headers (JSON or `Name: value` lines); run again after a 401.",
    ["./get-headers", "--json"],
  ),
  enabled: field(z.boolean(), "`false` switches the server off.", true),
  required: field(
    z.boolean(),
    "Starting fails when this server does not start. Implies an eager start.",
    false,
  ),
  lazy: field(z.boolean(), "Whether the server is started only when it is needed.", true),
  startupTimeoutMs: field(milliseconds, "How long the start may take. Default 30 s.", 30_000),
  callTimeoutMs: field(milliseconds, "How long a call may take without progress. Default 60 s.", 60_000),
  maxCallTimeoutMs: field(milliseconds, "How long a call may take at all. Default 10 min.", 600_000),
  tools: field(toolRules, "Which tools are offered, and under which names.", {
    allow: ["search_*"],
    deny: ["search_secrets"],
  }),
  untrusted: field(
    z.boolean(),
    "The server is not believed: an allow list is required, its annotations count for nothing.",
    true,
  ),
  approval: field(approval, "Whether calls are approved, asked about or denied.", "auto"),
  elicitation: field(elicitationMode, "Whether the server's questions are asked or declined.", "ask"),
  retry: field(retry, "What is repeated after a failure.", { attempts: 2 }),
  oauth: field(oauth, "How to log in.", { clientId: "plugboard-dev", scopes: ["issues:read"] }),
  auth: field(text, "`oauth`, `none`, or the id of a provider that the host program supplies.", "oauth"),
  protocol: field(z.enum(["auto", "modern", "legacy"]), "Pins the protocol era.", "auto"),
  isolation: field(
    z.enum(["shared", "caller", "call", "project"]),
    "One connection for everybody, one for each caller, one for each call, or one for each project folder (`${PROJECT_ROOT}` is that folder).",
    "shared",
  ),
  idleStopMs: field(
    milliseconds,
    "Stops the server after so long without use; its tools stay listed and the next call starts it again.",
    600_000,
  ),
  output: field(output, "How large results may be.", { maxTokens: 25_000 }),
  cacheTtlMs: field(
    z.int().check(z.minimum(0), z.maximum(86_400_000)),
    "How long a list of tools counts as fresh.",
    3_600_000,
  ),
  sandbox: field(
    z.union([z.enum(["none", "bwrap"]), sandboxProfile], {
      error: 'expected `none`, `bwrap`, or `{ kind: "bwrap", read, write, network, env }`',
    }),
    "Confines a stdio server with bubblewrap.",
    "bwrap",
  ),
  network: field(network, "Proxy and certificates for a remote server.", {
    ca: "./company-ca.pem",
  }),
  maxLineBytes: field(
    z.int().check(z.minimum(1024), z.maximum(1_073_741_824)),
    "The longest message accepted. Default 32 MB.",
    33_554_432,
  ),
  alwaysLoad: field(
    z.union([z.boolean(), texts], { error: "expected true, false or a list of tools" }),
    "These tools are always offered in full, never deferred to tool search.",
    true,
  ),
});

/** The checked configuration of one server, with its `${…}` references still in place. */
export type ServerConfig = z.output<typeof serverSchema>;
