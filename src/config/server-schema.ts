import * as z from "zod/mini";
import { approval } from "./approval/schema.ts";
import { field, shownAs } from "./field.ts";

export { field, showings } from "./field.ts";
export type { Showing } from "./field.ts";

const text = z.string();
const texts = z.array(z.string());
const milliseconds = z.int().check(z.minimum(1), z.maximum(86_400_000));
const tokens = z.int().check(z.minimum(1), z.maximum(100_000_000));
export const elicitationMode = z.enum(["ask", "decline"]);

export const keepWarm = z.int().check(z.minimum(0), z.maximum(3_600_000));

export const retry = z.strictObject({
  attempts: field(
    z.int().check(z.minimum(0), z.maximum(5)),
    "How often to retry a call that is safe to repeat.",
    2,
  ),
  timeouts: field(
    z.boolean(),
    "Whether to retry a call to a read-only or idempotent tool after a timeout.",
    false,
  ),
});

const outputLimits = {
  warnTokens: field(tokens, "Results with more estimated tokens than this are flagged.", 10_000),
  maxTokens: field(
    tokens,
    "Results with more estimated tokens than this are cut. The whole result is kept under a handle.",
    25_000,
  ),
  media: field(z.enum(["keep", "drop"]), "Whether to pass on images and audio.", "keep"),
};

export const output = z.strictObject({
  ...outputLimits,
  check: field(
    z.enum(["error", "warn", "off"]),
    "What to do if a structured result does not match the server's own output schema: add a warning (the default), fail, or nothing.",
    "error",
  ),
  tools: field(
    z.record(text, z.strictObject(outputLimits)),
    "Limits by tool. Names may contain `*`.",
    {
      "read_*": { maxTokens: 50_000 },
    },
    "text",
  ),
});

const toolRules = z.strictObject({
  allow: field(
    texts,
    "Offer only these tools. `*` and `?` are wildcards. An empty list is an error.",
    ["search_*"],
    "text",
  ),
  deny: field(texts, "Never offer these tools, even if `allow` lists them.", ["delete_*"], "text"),
  rename: field(
    z.record(text, text),
    "New names for tools, by the name the server uses.",
    {
      search_issues: "search",
    },
    "text",
  ),
  annotations: field(
    z.record(text, z.record(text, z.unknown())),
    "Overrides for the server's tool annotations. Names may contain `*`.",
    { "get_*": { readOnlyHint: true } },
    "text",
  ),
  describe: field(
    z.record(text, text),
    "Descriptions to show instead of the server's, by the name the server uses.",
    { search_issues: "Searches the issues of our team." },
    "text",
  ),
  defaults: field(
    z.record(text, z.record(text, z.unknown())),
    "Values for arguments that a call does not give, by tool. Names of tools may contain `*`. The values are passed on as written.",
    { "search_*": { project: "web" } },
  ),
  hideArguments: field(
    z.record(text, texts),
    "Arguments that are neither shown to the model nor accepted from it, by tool. Names of tools may contain `*`. A required one needs a default.",
    { "search_*": ["project"] },
    "text",
  ),
});

const identityProvider = z.strictObject({
  issuer: shownAs(z.string().check(z.minLength(1)), "url"),
  clientId: shownAs(z.string().check(z.minLength(1)), "text"),
  clientSecret: field(text, "The client's secret at the identity provider.", "${secret:IDP_CLIENT}"),
});

const oauth = z.strictObject({
  clientId: field(text, "The ID of a pre-registered client.", "plugboard-dev", "text"),
  clientSecret: field(
    text,
    "The client's secret. Use a reference, not the secret itself.",
    "${secret:ISSUES_CLIENT}",
  ),
  privateKey: field(
    text,
    "The client's private key (PEM or JWK), instead of a secret. Use a reference.",
    "${file:~/.keys/plugboard.pem}",
  ),
  grant: field(
    z.enum(["client-credentials", "jwt-bearer", "cross-app"]),
    "Log in without a person: as the client itself, with a workload's token, or through a company's identity provider.",
    "client-credentials",
  ),
  assertion: field(
    text,
    "The workload's token for `jwt-bearer`, or the person's ID token for `cross-app`. Read again on every use.",
    "${file:/var/run/secrets/tokens/plugboard}",
  ),
  identityProvider: field(
    identityProvider,
    "For `cross-app`: the identity provider that exchanges the ID token for a grant for this server.",
    { issuer: "https://idp.example", clientId: "plugboard" },
  ),
  dpop: field(
    z.boolean(),
    "Whether to bind tokens to a key (DPoP). Default: only if the server asks for it.",
    true,
  ),
  clientMetadataUrl: field(
    text,
    "The URL of a client ID metadata document.",
    "https://me.example/client.json",
    "url",
  ),
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
        error: "expected a list of scopes, or one string separated by spaces",
      },
    ),
    "The scopes to request if the server does not specify any.",
    ["issues:read"],
    "text",
  ),
  callbackPort: field(
    z.int().check(z.minimum(1), z.maximum(65_535)),
    "A fixed port for the login callback.",
    8765,
  ),
  issuer: field(text, "The only authorization server to accept.", "https://login.example", "url"),
  resource: field(
    z.union([z.string().check(z.minLength(1)), z.literal(false)], { error: "expected a name, or false" }),
    "The resource that tokens are requested for (RFC 8707), or `false` to leave it out. Default: what the server's metadata says.",
    "api://issues",
    "url",
  ),
  profile: field(text, "The account to use, if there are several.", "work", "text"),
});

const sandboxProfile = z.strictObject({
  kind: z.literal("bwrap"),
  read: field(texts, "Folders the server may read.", ["/usr", "${HOME}/notes"], "word"),
  write: field(texts, "Folders the server may write to.", ["./data"], "word"),
  network: field(z.boolean(), "Whether the server may use the network.", false),
  env: field(texts, "Environment variables the server may see.", ["PATH"], "word"),
});

const network = z.strictObject({
  proxy: field(
    text,
    "A proxy for this server. `none` ignores the proxy environment variables.",
    "http://127.0.0.1:3128",
    "url",
  ),
  ca: field(
    text,
    "A file with CA certificates to trust in addition to the system's.",
    "./company-ca.pem",
    "word",
  ),
  cert: field(text, "A client certificate.", "./client.pem", "word"),
  key: field(text, "The client certificate's key.", "./client.key", "word"),
});

export const serverSchema = z.strictObject({
  type: field(
    z.enum(["stdio", "http", "sse"]),
    "The transport. Inferred from `command` or `url` if absent. `streamable-http`, `local` and `remote` are also accepted.",
    "http",
    "word",
  ),
  command: field(
    text.check(z.minLength(1)),
    "The program of a stdio server. It is not run in a shell.",
    "npx",
    "word",
  ),
  args: field(
    texts,
    "The program's arguments.",
    ["-y", "@modelcontextprotocol/server-filesystem", "${HOME}/notes"],
    "arguments",
  ),
  cwd: field(
    text,
    "The program's working folder, relative to the configuration file. Default: the project folder for the project and local scopes, otherwise the current folder.",
    "./server",
    "word",
  ),
  env: field(
    z.record(text, text),
    "Environment variables for the server, added to a minimal environment.",
    {
      LOG_LEVEL: "info",
    },
    "names",
  ),
  inheritEnv: field(
    texts,
    "Environment variables to pass on from Plugboard's own environment. `*` is a wildcard. Package launchers such as `npx` get the variables for proxies, certificates and registries [without it](processes.md#proxies-certificates-and-registries).",
    ["AWS_*"],
    "word",
  ),
  url: field(text.check(z.minLength(1)), "The URL of a remote server.", "https://issues.example/mcp", "url"),
  headers: field(
    z.record(text, text),
    "Headers to send with every request.",
    {
      Authorization: "Bearer ${secret:ISSUES_TOKEN}",
    },
    "names",
  ),
  headersFromEnv: field(
    z.record(text, text),
    "Headers whose values come from environment variables.",
    {
      "X-Api-Key": "ISSUES_KEY",
    },
    "word",
  ),
  bearerTokenEnv: field(
    text,
    "The environment variable that contains a bearer token.",
    "ISSUES_TOKEN",
    "word",
  ),
  headersHelper: field(
    z.union([texts.check(z.minLength(1)), text.check(z.minLength(1))], {
      error: "expected a command as a list of words",
    }),
    "A command that prints headers as JSON or `Name: value` lines: a list of words, or one string that is split at spaces, without a shell. Plugboard runs it again after a 401.",
    ["./get-headers", "--json"],
    "arguments",
  ),
  enabled: field(z.boolean(), "`false` disables the server.", true),
  required: field(z.boolean(), "Startup fails if this server does not start. Implies an eager start.", false),
  lazy: field(z.boolean(), "Whether to start the server only when it is needed.", true),
  startupTimeoutMs: field(milliseconds, "How long the server may take to start. Default: 30 s.", 30_000),
  callTimeoutMs: field(milliseconds, "How long a call may take without progress. Default: 60 s.", 60_000),
  maxCallTimeoutMs: field(milliseconds, "How long a call may take in total. Default: 10 min.", 600_000),
  tools: field(toolRules, "Which tools to offer, and under which names.", {
    allow: ["search_*"],
    deny: ["search_secrets"],
  }),
  untrusted: field(
    z.boolean(),
    "Do not trust the server: requires an allow list and ignores its annotations.",
    true,
  ),
  approval: field(
    approval,
    "Whether to approve calls, ask about them or deny them. See [Approval](approval.md).",
    "auto",
  ),
  elicitation: field(elicitationMode, "Whether to ask the server's questions or decline them.", "ask"),
  retry: field(retry, "What to retry after a failure.", { attempts: 2 }),
  oauth: field(oauth, "How to log in.", { clientId: "plugboard-dev", scopes: ["issues:read"] }),
  auth: field(
    text,
    "`oauth`, `none`, or the ID of a provider that the host program supplies.",
    "oauth",
    "word",
  ),
  protocol: field(z.enum(["auto", "modern", "legacy"]), "Pins the protocol era.", "auto"),
  isolation: field(
    z.enum(["shared", "caller", "call", "project"]),
    "One connection for all callers, per caller, per call, or per project folder (`${PROJECT_ROOT}` is that folder).",
    "shared",
  ),
  idleStopMs: field(
    milliseconds,
    "Stop the server after it has been idle for this long. Its tools stay listed, and the next call starts it again.",
    600_000,
  ),
  keepWarm: field(
    keepWarm,
    "How many milliseconds a stdio server may stay after a command, so that the next one need not start it: at most an hour, `0` for not at all (the default). See [Warm servers](warm-servers.md).",
    60_000,
  ),
  output: field(output, "How large results may be.", { maxTokens: 25_000 }),
  cacheTtlMs: field(
    z.int().check(z.minimum(0), z.maximum(86_400_000)),
    "How long a tool list counts as fresh.",
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
    "The longest message to accept. Default: 32 MB.",
    33_554_432,
  ),
  description: field(
    text,
    "What the server is for, in a few words. Tool search and `hub.summary()` show it to models in place of what the server says of itself.",
    "Issues and pull requests of our team",
    "text",
  ),
  alwaysLoad: field(
    z.union([z.boolean(), texts], { error: "expected true, false or a list of tools" }),
    "Tools that are always offered in full, never only through tool search: all of the server's, or a list of names with `*`.",
    true,
    "text",
  ),
});

/** The checked configuration of one server, with its `${…}` references still in place. */
export type ServerConfig = z.output<typeof serverSchema>;
