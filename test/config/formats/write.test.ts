import { describe, expect, it } from "vitest";
import { formats } from "../../../src/config/formats/index.ts";
import type { ServerConfig } from "../../../src/config/server-schema.ts";
import { cases } from "./cases/index.ts";
import { context, formatOf, readFixture } from "./read-fixture.ts";

const writers = formats.filter(({ write }) => write !== undefined);

describe("M10 writing other clients' files", () => {
  it("covers the clients people share servers with", () => {
    expect(writers.map(({ id }) => id)).toEqual(
      expect.arrayContaining(["claude-code", "codex", "cursor", "vscode", "opencode", "gemini"]),
    );
  });

  describe.each(writers)("$title", (format) => {
    const fixtures = cases.find(({ id }) => id === format.id)!.fixtures;

    it.each(fixtures)(
      "gives back the servers of $file, but for what it says is lost",
      ({ file, scope = "user" }) => {
        const before = format.read(readFixture(format, file), context({ scope }));
        const written = format.write!(before.servers);
        const after = format.read(written.value, context({ scope }));
        const lostFields = written.notes.filter(({ kind }) => kind === "lost");
        const expected = before.servers.map(({ name, config }) => {
          const lost = new Set(lostFields.filter(({ server }) => server === name).map(({ field }) => field));
          return [name, Object.fromEntries(Object.entries(config).filter(([field]) => !lost.has(field)))];
        });
        expect(after.skipped).toEqual([]);
        expect(after.servers.map(({ name, config }) => [name, config])).toEqual(expected);
      },
    );

    it.each(transports)("changes no field without a note: %j", (transport) => {
      for (const extra of extras) {
        const config: ServerConfig = { ...transport, ...extra };
        const { value, notes } = format.write!([{ name: "probe", config }]);
        const [server] = format.read(value, context()).servers;
        expect(notes.length === 0 ? server?.config : config).toEqual(config);
        expect([server?.config.command, server?.config.url]).toEqual([config.command, config.url]);
      }
    });

    it("writes names such as __proto__ unchanged", () => {
      const names = ["__proto__", "constructor", "two words"];
      const { value } = format.write!(names.map((name) => ({ name, config: { command: "uvx" } })));
      expect(format.read(value, context()).servers.map(({ name }) => name)).toEqual(names);
    });

    it("tells people to set their secrets, and never writes our references to clients that do not know them", () => {
      const config = { command: "uvx", env: { KEY: "${secret:THE_KEY}" } };
      const { value, notes } = format.write!([{ name: "probe", config }]);
      const [server] = format.read(value, context()).servers;
      expect(JSON.stringify(value)).not.toContain("${secret:");
      const isKept = server?.config.env?.["KEY"] === config.env.KEY;
      const isNoted = notes.some(({ kind, server: name }) => kind === "needs-secret" && name === "probe");
      expect(isKept || isNoted).toBe(true);
    });
  });

  it("writes variable names for Codex, which does not expand values", () => {
    const { value } = formatOf("codex").write!([
      {
        name: "notes",
        config: {
          url: "https://n.example/mcp",
          headers: { Authorization: "Bearer ${TOKEN}", "X-Key": "${KEY}", "X-Team": "a" },
        },
      },
      { name: "db", config: { command: "uvx", env: { DSN: "${DSN}", LEVEL: "1", OTHER: "${SOMETHING}" } } },
    ]);
    expect(value).toEqual({
      mcp_servers: {
        notes: {
          url: "https://n.example/mcp",
          bearer_token_env_var: "TOKEN",
          env_http_headers: { "X-Key": "KEY" },
          http_headers: { "X-Team": "a" },
        },
        db: { command: "uvx", env_vars: ["DSN"], env: { LEVEL: "1" } },
      },
    });
  });

  it("leaves patterns out of lists that the client compares literally, and says so", () => {
    const config = { command: "uvx", tools: { deny: ["delete_*", "drop"] } };
    const { value, notes } = formatOf("gemini").write!([{ name: "db", config }]);
    expect(value).toEqual({ mcpServers: { db: { command: "uvx", excludeTools: ["drop"] } } });
    expect(notes).toEqual([expect.objectContaining({ server: "db", kind: "lost", field: "tools.deny" })]);
  });

  it("warns when a client would expand our plain text", () => {
    const { notes } = formatOf("claude-code").write!([
      { name: "db", config: { command: "uvx", args: ["$${HOME}"] } },
    ]);
    expect(notes).toEqual([expect.objectContaining({ kind: "lost", field: "args[0]" })]);
  });
});

const transports: ServerConfig[] = [
  { command: "uvx" },
  { type: "http", url: "https://n.example/mcp" },
  { type: "sse", url: "https://n.example/sse" },
];

const extras: ServerConfig[] = [
  {},
  ...[
    "a",
    "${HOME}/b",
    "${X:-d}",
    "${secret:S}",
    "$${plain}",
    "{env:X}",
    "$X",
    "${cmd:date}",
    "${file:./f}",
  ].map((word) => ({ args: [word] })),
  { cwd: "${HOME}/work" },
  ...["1", "${A}", "${B}", "%PATH%", "${file:./f}", "$${A}", "${A:-b}"].map((value) => ({
    env: { A: value },
  })),
  { inheritEnv: ["DSN"] },
  { inheritEnv: ["AWS_*"] },
  ...["a", "${A}", "Bearer ${T}", "${secret:S}", "$A"].map((value) => ({
    headers: { Authorization: value },
  })),
  { headersFromEnv: { "X-A": "A" } },
  { bearerTokenEnv: "T" },
  { headersHelper: "./helper --json" },
  { headersHelper: ["./my helper", "--json"] },
  { enabled: false },
  { required: true },
  { lazy: false },
  { startupTimeoutMs: 1500 },
  { callTimeoutMs: 1500 },
  { maxCallTimeoutMs: 90_000 },
  { tools: { allow: ["a"], deny: ["b"] } },
  { tools: { allow: ["a_*"] } },
  { tools: { deny: ["*"] } },
  { tools: { rename: { a: "b" } } },
  { untrusted: true },
  { approval: "approve" },
  { approval: "deny" },
  { approval: { default: "prompt", tools: { a: "approve", "b_*": "deny" } } },
  { elicitation: "decline" },
  { retry: { attempts: 1 } },
  { oauth: { clientId: "a", clientSecret: "${secret:S}", scopes: ["r", "w"], callbackPort: 9000 } },
  { oauth: { issuer: "https://login.example", profile: "work" } },
  { auth: "oauth" },
  { auth: "none" },
  { auth: "company" },
  { protocol: "modern" },
  { isolation: "call" },
  { output: { maxTokens: 10 } },
  { cacheTtlMs: 0 },
  { sandbox: "bwrap" },
  { network: { ca: "./ca.pem" } },
  { maxLineBytes: 2048 },
  { alwaysLoad: true },
  { alwaysLoad: ["a"] },
];
