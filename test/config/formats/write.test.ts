import { describe, expect, it } from "vitest";
import { formats, type NamedServer } from "../../../src/config/formats/index.ts";
import type { ServerConfig } from "../../../src/config/server-schema.ts";
import { cases } from "./cases/index.ts";
import { context, formatOf, readFixture } from "./read-fixture.ts";

const writers = formats.filter(({ write }) => write !== undefined);

/** Each is a variable or a command in some client, and none in Plugboard. */
const livePlainText = [
  "${AWS}",
  "${AWS:-x}",
  "${env:AWS}",
  "${input:AWS}",
  "${command:run}",
  "${{ secrets.AWS }}",
  "{env:AWS}",
  "{file:/etc/aws}",
  "$AWS",
  "$env:AWS",
  "%AWS%",
  "$(run)",
  "`run`",
  "!run",
];
const token = "ghp_canary0000000000000000";

describe("M10 writing other clients' files", () => {
  it("covers every client that has a file of its own: thirty are read, more than twenty written", () => {
    const readOnly = formats.filter(({ write }) => write === undefined).map(({ id }) => id);
    expect(readOnly).toEqual(["toolloop", "manifest"]);
    expect(formats.length).toBeGreaterThanOrEqual(30);
    expect(writers.length).toBeGreaterThanOrEqual(20);
  });

  describe.each(writers)("$title", (format) => {
    const fixtures = cases.find(({ id }) => id === format.id)!.fixtures;

    it.each(fixtures)(
      "gives back the servers of $file, but for what it says is lost",
      ({ file, scope = "user" }) => {
        const before = format.read(readFixture(format, file), context({ scope }));
        const written = format.write!(before.servers);
        const after = format.read(written.value, context({ scope }));
        const kept = ({ name, config }: NamedServer) => {
          const noted = written.notes.filter(({ kind, server }) => kind !== "translated" && server === name);
          const lost = new Set(noted.map(({ field }) => field.split(/[.[]/)[0]));
          return [name, Object.fromEntries(Object.entries(config).filter(([field]) => !lost.has(field)))];
        };
        expect(after.skipped).toEqual([]);
        expect(after.servers.map(kept)).toEqual(before.servers.map(kept));
        expect(JSON.stringify(written.value)).not.toContain("plain-value");
      },
    );

    it("never writes a secret in plain text, wherever it is", () => {
      const secrets: ServerConfig[] = [
        {
          command: "uvx",
          env: { API_TOKEN: "canary-1" },
          args: ["--api-key", "canary-2", "--token=canary-3"],
        },
        {
          command: "docker",
          env: { DSN: "postgresql://me:canary-8@db.example/x?sslmode=require" },
          args: ["-e", "TOKEN=canary-9", "--header", "Authorization: Bearer canary-10"],
        },
        {
          command: "uvx",
          args: [
            "mysql://me:canary/11@db.example/x",
            "--dsn=redis://:canary-12@r.example",
            "https://a.example?token=canary-13",
          ],
        },
        {
          type: "http",
          url: "https://n.example/mcp?api_key=canary-4",
          headers: { Authorization: "Bearer canary-5", "X-Api-Key": "canary-6" },
          oauth: { clientId: "a", clientSecret: "canary-7" },
        },
        {
          command: "uvx",
          env: {
            API_TOKEN: "${API_TOKEN:-canary-14}",
            DSN: "pg://me:${DB:-canary-15}@db.example",
            GH: token,
          },
          args: ["--token", "${A:-${B:-canary-16}}", token, `--login=${token}`],
        },
        {
          type: "http",
          url: "https://n.example/mcp?api_key=${K:-canary-17}",
          headers: { Authorization: "Bearer ${T:-canary-18}", "X-Team": token },
          headersHelper: ["sh", "-c", "get-headers --token canary-19"],
        },
        {
          type: "http",
          url: "https://n.example/mcp",
          headers: { "X-Api-Key": "canary-20" },
          headersHelper: ["get-headers", "--header", "Authorization: Bearer canary-21"],
        },
      ];
      for (const config of secrets) {
        const { value, notes } = format.write!([{ name: "probe", config }]);
        expect(JSON.stringify([value, notes])).not.toContain("canary");
        expect(notes.filter(({ kind }) => kind === "needs-secret").length).toBeGreaterThan(1);
      }
    });

    it.each(livePlainText)("never turns the plain text %s into a variable or a command", (plain) => {
      const written = plain.replaceAll("${", () => "$${");
      const remote = { type: "http", url: "https://n.example/mcp" } as const;
      const configs: ServerConfig[] = [
        { command: "uvx", env: { LEVEL: written } },
        { ...remote, headers: { "X-Team": written } },
        { ...remote, url: `https://n.example/${written}` },
      ];
      for (const config of configs) {
        const { value } = format.write!([{ name: "probe", config }]);
        const [server] = format.read(value, context()).servers;
        const { env = {}, headers = {}, url = "" } = server?.config ?? {};
        expect([undefined, written]).toContain(Object.values({ ...env, ...headers })[0]);
        expect(["", remote.url, config.url]).toContain(url);
        expect(server?.notes.filter(({ message }) => message.includes("does not know")) ?? []).toEqual([]);
      }
    });

    it("never writes our notation as the default of another client's variable", () => {
      const env = { A: "${A:-${secret:B}}", C: "${C:-${cmd:get-c}}", D: "${D:-${file:d.txt}}" };
      const { value, notes } = format.write!([{ name: "probe", config: { command: "uvx", env } }]);
      expect(JSON.stringify(value)).not.toMatch(/\$\{(secret|cmd|file):/);
      expect(notes.filter(({ kind }) => kind !== "translated").length).toBeGreaterThan(2);
    });

    it.each(transports)("changes no field without a note: %j", (transport) => {
      for (const extra of extras) {
        const config: ServerConfig = { ...transport, ...extra };
        const { value, notes } = format.write!([{ name: "probe", config }]);
        const [server] = format.read(value, context()).servers;
        expect(notes.length === 0 ? server?.config : config).toEqual(config);
        expect([server?.config.command, server?.config.url]).toEqual([config.command, config.url]);
      }
    });

    it("never lets the client call tools unasked because we do, and says so", () => {
      const approvals: ServerConfig["approval"][] = [
        "approve",
        { default: "approve", tools: { drop: "prompt" } },
        { tools: { read: "approve", write: "approve" } },
      ];
      for (const approval of approvals) {
        const { value, notes } = format.write!([{ name: "probe", config: { command: "uvx", approval } }]);
        const [server] = format.read(value, context()).servers;
        expect(JSON.stringify(server?.config)).not.toContain("approve");
        expect(notes).toContainEqual(
          expect.objectContaining({ kind: "lost", field: expect.stringMatching(/^approval/) as string }),
        );
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

  it("says which servers Codex lists but does not start because of their names", () => {
    const names = ["files", "with.dot", "@scope/name", "with space", "Zoë"];
    const { value, notes } = formatOf("codex").write!(
      names.map((name) => ({ name, config: { command: "uvx" } })),
    );
    expect(value).toMatchObject({ mcp_servers: { "with space": { command: "uvx" } } });
    expect(notes.map(({ kind, field, server }) => [kind, field, server])).toEqual([
      ["lost", "name", "with space"],
      ["lost", "name", "Zoë"],
    ]);
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

  it("approves nothing where conditions would be lost, and says so", () => {
    const rules = [{ when: { "/path": "/etc/*" }, mode: "deny" as const }];
    const config = {
      command: "uvx",
      approval: { default: "approve" as const, tools: { a: "approve" as const }, rules },
    };
    for (const client of ["gemini", "cline"]) {
      const { value, notes } = formatOf(client).write!([{ name: "db", config }]);
      expect(JSON.stringify(value)).not.toMatch(/approve|trust/i);
      expect(notes).toEqual([expect.objectContaining({ server: "db", kind: "lost", field: "approval" })]);
    }
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
  { approval: { tools: { a: "approve" }, rules: [{ when: { "/path": "/etc/*" }, mode: "deny" }] } },
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
