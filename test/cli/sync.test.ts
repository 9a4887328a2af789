import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, statSync, symlinkSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { findForeignFiles, Workspace } from "../../src/config.ts";
import { createSandbox } from "../sandbox.ts";

const user = "home/.config/plugboard/config.json";
const servers = {
  db: { command: "uvx", args: ["db-mcp"], env: { DSN: "${DSN:-x}", TOKEN: "${secret:DB_TOKEN}" } },
  notes: { type: "http", url: "https://notes.example/mcp" },
};

const codexFile = `# my codex
model = "o4" # keep me

[mcp_servers.mine]
command = "mine" # only in Codex
enabled = false

[mcp_servers.notes]
url = "https://old.example/mcp"
tool_timeout_sec = 99
enabled = false

[tui]
theme = "dark"
`;

describe("M10 export --write", () => {
  it("merges into Codex's file and keeps comments, order, unknown fields and switched-off servers", async () => {
    const box = createSandbox({ [user]: { mcpServers: servers }, "home/.codex/config.toml": codexFile });
    const run = await box.cli(["export", "codex", "--write", "--yes"]);
    expect(run).toMatchObject({ code: 0 });
    expect(run.out).toContain("Wrote ");
    const after = box.read("home/.codex/config.toml");
    for (const line of codexFile.split("\n").filter((one) => !one.includes("old.example")))
      expect(after).toContain(line);
    expect(after).toContain('url = "https://notes.example/mcp"\ntool_timeout_sec = 99\nenabled = false');
    expect(after).toContain('[mcp_servers.db]\ncommand = "uvx"');
    expect(after.indexOf("[tui]")).toBeGreaterThan(after.indexOf("[mcp_servers.notes]"));
    const again = await box.cli(["export", "codex", "--write", "--yes"]);
    expect(again.out).toContain("Nothing to change.");
    expect(box.read("home/.codex/config.toml")).toBe(after);
  });

  it("shows the difference first, asks, and accepts no", async () => {
    const box = createSandbox({ [user]: { mcpServers: servers }, "home/.codex/config.toml": codexFile });
    const run = await box.cli(["export", "codex", "--write"], { answers: [false] });
    expect(run.out).toMatch(/differs +notes +url/);
    expect(run.out).toContain('- url "https://old.example/mcp"');
    expect(run.out).toContain('+ url "https://notes.example/mcp"');
    expect(run.out).toMatch(/missing +db/);
    expect(run.out).toMatch(/only there +mine, switched off/);
    expect(run.out).toContain("Nothing was changed.");
    expect(box.read("home/.codex/config.toml")).toBe(codexFile);
    expect((await box.cli(["export", "codex", "--write"], { answers: [true] })).out).toContain("Wrote ");
  });

  it("writes nothing without a terminal unless --yes is given, and nothing in a dry run", async () => {
    const box = createSandbox({ [user]: { mcpServers: servers } });
    const run = await box.cli(["export", "cursor", "--write"]);
    expect(run).toMatchObject({ code: 2 });
    expect(run.err).toContain("--yes");
    expect((await box.cli(["export", "cursor", "--write", "--dry-run"])).code).toBe(0);
    expect(existsSync(box.path("home/.cursor/mcp.json"))).toBe(false);
    expect((await box.cli(["export", "cursor", "--yes"])).code).toBe(2);
  });

  it("creates the file of the right scope, and gives a project's servers to the project's file only", async () => {
    const box = createSandbox({
      [user]: { mcpServers: servers },
      "project/plugboard.json": { mcpServers: { shared: { command: "shared-mcp" } } },
    });
    await box.cli(["trust", "--yes"]);
    await box.cli(["export", "cursor", "--write", "--yes"]);
    await box.cli(["export", "cursor", "--write", "--yes", "--scope", "project"]);
    const namesIn = (file: string) =>
      Object.keys((JSON.parse(box.read(file)) as { mcpServers: object }).mcpServers);
    expect(namesIn("home/.cursor/mcp.json")).toEqual(["db", "notes"]);
    expect(namesIn("project/.cursor/mcp.json")).toEqual(["shared"]);
    expect(statSync(box.path("home/.cursor/mcp.json")).mode & 0o777).toBe(0o600);
    const named = await box.cli(["export", "cursor", "--write", "--yes", "--server", "shared"]);
    expect(named.code).toBe(0);
    expect(namesIn("home/.cursor/mcp.json")).toEqual(["db", "notes", "shared"]);
  });

  it("keeps a file's permissions and a link that points to it", async () => {
    const box = createSandbox({ [user]: { mcpServers: servers }, "dotfiles/mcp.json": "{}\n" });
    chmodSync(box.path("dotfiles/mcp.json"), 0o640);
    mkdirSync(box.path("home/.cursor"));
    symlinkSync(box.path("dotfiles/mcp.json"), box.path("home/.cursor/mcp.json"));
    expect((await box.cli(["export", "cursor", "--write", "--yes"])).code).toBe(0);
    expect(lstatSync(box.path("home/.cursor/mcp.json")).isSymbolicLink()).toBe(true);
    expect(box.read("dotfiles/mcp.json")).toContain("db-mcp");
    expect(statSync(box.path("dotfiles/mcp.json")).mode & 0o777).toBe(0o640);
    expect(readdirSync(box.path("dotfiles"))).toEqual(["mcp.json"]);
  });

  it("does not follow a project's link, to a file or a folder, out of the project", async () => {
    const project = { "project/plugboard.json": { mcpServers: { shared: { command: "shared-mcp" } } } };
    const box = createSandbox({ ...project, "home/precious.json": "{}\n" });
    await box.cli(["trust", "--yes"]);
    const run = () => box.cli(["export", "cursor", "--write", "--yes", "--scope", "project"]);
    symlinkSync(box.path("home"), box.path("project/.cursor"));
    expect((await run()).err).toContain("outside the project");
    expect(existsSync(box.path("home/mcp.json"))).toBe(false);
    const other = createSandbox({ ...project, "home/precious.json": "{}\n" });
    await other.cli(["trust", "--yes"]);
    mkdirSync(other.path("project/.cursor"));
    symlinkSync(other.path("home/precious.json"), other.path("project/.cursor/mcp.json"));
    const refused = await other.cli(["export", "cursor", "--write", "--yes", "--scope", "project"]);
    expect(refused).toMatchObject({ code: 3 });
    expect(other.read("home/precious.json")).toBe("{}\n");
  });

  it("never writes a secret, but the client's own variable for it, or says that it has none", async () => {
    const secret = { command: "uvx", env: { API_TOKEN: "canary-1", KEY: "${secret:KEY}" } };
    const box = createSandbox({ [user]: { mcpServers: { safe: secret } } });
    const cursor = await box.cli(["export", "cursor", "--write", "--yes"]);
    expect(box.read("home/.cursor/mcp.json")).toContain('"API_TOKEN": "${env:API_TOKEN}"');
    const desktop = await box.cli(["export", "lm-studio", "--write", "--yes", "--json"]);
    const printed = await box.cli(["export", "zed"]);
    const everything = [cursor.out, cursor.err, desktop.out, printed.out, printed.err];
    for (const file of ["home/.cursor/mcp.json", "home/.lmstudio/mcp.json"]) everything.push(box.read(file));
    expect(everything.join("\n")).not.toContain("canary-1");
    expect(cursor.out).toMatch(/needs-secret +env\.API_TOKEN/);
    expect(desktop.out).toContain("enter the value by hand");
  });

  it("keeps a value that somebody entered by hand because the client cannot look it up", async () => {
    const box = createSandbox({
      [user]: { mcpServers: { db: { command: "uvx", args: ["new"], env: { KEY: "${secret:KEY}" } } } },
      "home/.lmstudio/mcp.json": {
        mcpServers: { db: { command: "uvx", args: ["old"], env: { KEY: "by-hand" } } },
      },
    });
    await box.cli(["export", "lm-studio", "--write", "--yes"]);
    const written = JSON.parse(box.read("home/.lmstudio/mcp.json")) as object;
    expect(written).toEqual({
      mcpServers: { db: { command: "uvx", args: ["new"], env: { KEY: "by-hand" } } },
    });
    expect((await box.cli(["sync"])).code).toBe(0);
  });

  it("leaves alone what a client has in addition, and a copy of our secrets that was imported from it", async () => {
    const token = { type: "http", url: "https://n.example/mcp", headers: { Authorization: "Bearer canary" } };
    const toml = `[mcp_servers.notes]
url = "https://n.example/mcp"
http_headers = { Authorization = "Bearer canary" }

[mcp_servers.db]
command = "uvx"
args = ["db-mcp"]
env = { PATH = "/opt/bin" } # only for Codex
`;
    const box = createSandbox({
      [user]: { mcpServers: { notes: token, db: { command: "uvx", args: ["db-mcp"] } } },
      "home/.codex/config.toml": toml,
    });
    const run = await box.cli(["sync"]);
    expect(run.out).toContain("Your servers are the same there.");
    expect(run.out).not.toContain("canary");
    await box.cli(["sync", "--write", "--yes"]);
    expect(box.read("home/.codex/config.toml")).toBe(toml);
  });

  it("does not switch on what is switched off here", async () => {
    const box = createSandbox({ [user]: { mcpServers: { quiet: { command: "quiet", enabled: false } } } });
    await box.cli(["export", "cursor", "--write", "--yes"]);
    const named = await box.cli(["export", "cursor", "--write", "--yes", "--server", "quiet"]);
    expect(named.out).toMatch(/left +quiet +it is disabled here/);
    expect(existsSync(box.path("home/.cursor/mcp.json"))).toBe(false);
    await box.cli(["export", "codex", "--write", "--yes", "--server", "quiet"]);
    expect(box.read("home/.codex/config.toml")).toContain("enabled = false");
    const printed = await box.cli(["export", "cursor"]);
    expect(printed.out).not.toContain("quiet");
    expect(printed.err).toContain("left out");
  });

  it("never rewrites our own file through a link that a client has to it", async () => {
    const box = createSandbox({
      [user]: { mcpServers: { mine: { command: "x", env: { A: "${A:-1}" } } } },
      "project/.mcp.json": { mcpServers: { shared: { command: "x", env: { B: "${B:-1}" } } } },
    });
    await box.cli(["trust", "--yes"]);
    for (const [link, target] of [
      ["home/.cursor/mcp.json", user],
      ["project/.cursor/mcp.json", "project/.mcp.json"],
    ] as const) {
      mkdirSync(dirname(box.path(link)));
      symlinkSync(box.path(target), box.path(link));
    }
    const before = [box.read(user), box.read("project/.mcp.json")];
    expect((await box.cli(["sync", "--write", "--yes"])).out).toContain("No configuration files");
    const run = await box.cli(["export", "cursor", "--write", "--yes"]);
    expect([run.code, run.err]).toEqual([2, expect.stringContaining("also Plugboard's own file")]);
    expect((await box.cli(["import", "--dry-run"])).out).not.toContain("Cursor");
    expect([box.read(user), box.read("project/.mcp.json")]).toEqual(before);
  });

  it("fills an empty place for servers, and says which file has none before it asks", async () => {
    const box = createSandbox({
      [user]: { mcpServers: { one: { command: "x" } } },
      "home/.claude.json": '{\n  "mcpServers": null, // none yet\n  "numStartups": 3\n}\n',
      "home/.config/goose/config.yaml": "extensions:\nGOOSE_MODE: auto\n",
      "home/.gemini/settings.json": { mcpServers: [] },
      "home/.kiro/settings/mcp.json": { servers: ["not for MCP"], mcpServers: {} },
    });
    const run = await box.cli(["sync", "--write", "--yes"]);
    expect(run.err).toBe("");
    expect(run.out).toMatch(/unreadable +`mcpServers` is not an object/);
    expect(box.read("home/.claude.json")).toBe(
      '{\n  "mcpServers": {\n    "one": {\n      "type": "stdio",\n      "command": "x"\n    }\n  }, // none yet\n  "numStartups": 3\n}\n',
    );
    expect(box.read("home/.config/goose/config.yaml")).toContain("cmd: x");
    expect(box.read("home/.kiro/settings/mcp.json")).toContain('"one"');
    expect(JSON.parse(box.read("home/.gemini/settings.json"))).toEqual({ mcpServers: [] });
  });

  it("lists a file once if the home folder is the current one", async () => {
    const box = createSandbox({ "home/.cursor/mcp.json": { mcpServers: { a: { command: "x" } } } });
    await using workspace = await Workspace.open({ ...box.options, cwd: box.path("home") });
    expect(await workspace.compareClients()).toHaveLength(1);
    const home = box.path("home");
    const machine = { home, projectRoot: home, platform: process.platform, env: box.env };
    expect(await findForeignFiles(machine)).toHaveLength(1);
  });

  it("never takes a client's credentials along to another host", async () => {
    const theirs = {
      url: "https://corp.example/mcp",
      headers: { Authorization: "Bearer corp-token", "X-Team": "a" },
      apiTokens: { corp: "corp-token" },
      disabled: true,
      color: "red",
    };
    const box = createSandbox({
      [user]: {
        mcpServers: {
          moved: { type: "http", url: "https://other.example/mcp", headers: { "X-Ours": "1" } },
          path: { type: "http", url: "https://corp.example/v2/mcp" },
        },
      },
      "home/.cursor/mcp.json": { mcpServers: { moved: theirs, path: theirs } },
    });
    const run = await box.cli(["export", "cursor", "--write", "--yes"]);
    expect(run.out).toContain("- headers");
    expect(JSON.parse(box.read("home/.cursor/mcp.json"))).toEqual({
      mcpServers: {
        moved: { url: "https://other.example/mcp", headers: { "X-Ours": "1" }, disabled: true, color: "red" },
        path: { ...theirs, url: "https://corp.example/v2/mcp" },
      },
    });
  });

  it("leaves alone an entry of the same name that is not a server, such as a built-in extension", async () => {
    const goose = "extensions:\n  memory:\n    type: builtin\n    enabled: true\n    name: memory\n";
    const zed = { context_servers: { memory: { source: "extension", settings: { key: 1 } } } };
    const box = createSandbox({
      [user]: { mcpServers: { memory: { command: "memory-mcp" } } },
      "home/.config/goose/config.yaml": goose,
      "home/.config/zed/settings.json": zed,
    });
    const run = await box.cli(["sync", "--write", "--yes"]);
    expect(run.code).toBe(0);
    expect(run.out).toMatch(/left +memory .*it is built into Goose/);
    expect(run.out).toMatch(/left +memory .*it is started by a Zed extension/);
    expect(box.read("home/.config/goose/config.yaml")).toBe(goose);
    expect(JSON.parse(box.read("home/.config/zed/settings.json"))).toEqual(zed);
  });

  it("asks VS Code to prompt for secrets, next to the prompts it has", async () => {
    const before = `{
  // prompts
  "inputs": [
    { "type": "promptString", "id": "OTHER", "description": "mine" } // mine
  ],
  "servers": {}
}
`;
    const box = createSandbox({ [user]: { mcpServers: servers }, "home/.config/Code/User/mcp.json": before });
    await box.cli(["export", "vscode", "--write", "--yes"]);
    const after = box.read("home/.config/Code/User/mcp.json");
    expect(after).toContain("// prompts");
    expect(after).toContain("// mine");
    expect(after).toContain('"TOKEN": "${input:DB_TOKEN}"');
    expect(after).toMatch(/"id": "DB_TOKEN"/);
    expect((await box.cli(["sync", "vscode"])).code).toBe(0);
  });

  it.each([
    [["export", "toolloop", "--write", "--yes"], 2, "not write"],
    [["export", "goose", "--write", "--yes", "--scope", "project"], 2, "no file for the project scope"],
    [["export", "claude-code", "--write", "--yes", "--scope", "project"], 2, "plugboard add --scope project"],
    [["export", "cursor", "--write", "--yes", "--server", "nope"], 4, "no server"],
    [["sync", "emacs"], 2, "Unknown client"],
  ])("%j explains what it cannot do", async (args, code, words) => {
    const run = await createSandbox({ [user]: { mcpServers: servers } }).cli(args);
    expect(run.code).toBe(code);
    expect(run.err).toContain(words);
  });

  it.each([
    ["cursor", "home/.cursor/mcp.json", ""],
    ["cursor", "home/.cursor/mcp.json", "\n"],
    ["cursor", "home/.cursor/mcp.json", '{"mcpServers":{}}'],
    ["cursor", "home/.cursor/mcp.json", '\uFEFF{\r\n\t"mcpServers": {\r\n\t}\r\n}\r\n'],
    ["codex", "home/.codex/config.toml", "mcp_servers = {}\n"],
    ["codex", "home/.codex/config.toml", "[mcp_servers]\n"],
    ["codex", "home/.codex/config.toml", '[mcp_servers.db] # mine\ncommand = "old"\nargs = []\n'],
    ["goose", "home/.config/goose/config.yaml", "extensions:\n"],
    ["goose", "home/.config/goose/config.yaml", "extensions: {}\n"],
    ["goose", "home/.config/goose/config.yaml", "# nothing yet\n"],
    ["gemini", "home/.gemini/settings.json", '{ "theme": "x", }'],
    ["opencode", "home/.config/opencode/opencode.json", '{ "mcp": { "servers": {} } }'],
  ])("adds to what %s has in %s: %j", async (client, file, before) => {
    const box = createSandbox({ [user]: { mcpServers: { db: { command: "uvx", args: ["db-mcp"] } } } });
    box.write(file, before);
    const run = await box.cli(["export", client, "--write", "--yes"]);
    expect(run).toMatchObject({ code: 0, err: "" });
    expect(box.read(file)).toContain("db-mcp");
    expect(box.read(file).startsWith("\uFEFF")).toBe(before.startsWith("\uFEFF"));
    expect((await box.cli(["sync", client])).code).toBe(0);
  });

  it("refuses a file it cannot read, and leaves it as it is", async () => {
    const box = createSandbox({
      [user]: { mcpServers: servers },
      "home/.cursor/mcp.json": '{ "mcpServers": ',
    });
    const run = await box.cli(["export", "cursor", "--write", "--yes"]);
    expect(run).toMatchObject({ code: 3 });
    expect(box.read("home/.cursor/mcp.json")).toBe('{ "mcpServers": ');
  });
});

describe("M10 sync", () => {
  const clients = {
    [user]: { mcpServers: { ...servers, off: { command: "off", enabled: false } } },
    "home/.codex/config.toml": codexFile,
    "home/.cursor/mcp.json": `{
  // mine
  "mcpServers": {
    "db": { "command": "uvx", "args": ["db-mcp"], "env": { "DSN": "\${env:DSN}", "TOKEN": "\${env:DB_TOKEN}" } },
    "notes": { "url": "https://notes.example/mcp" },
    "extra": { "command": "extra" }
  }
}
`,
  };

  /** The same, after `notes` was the same in Codex once: it moved here since. */
  async function oncePushed() {
    const old = { notes: { type: "http", url: "https://old.example/mcp" } };
    const box = createSandbox({ ...clients, [user]: { mcpServers: old } });
    await box.cli(["sync", "codex"]);
    box.write(user, clients[user]);
    return box;
  }

  it("is clean when no client is installed", async () => {
    const run = await createSandbox({ [user]: { mcpServers: servers } }).cli(["sync"]);
    expect(run).toMatchObject({ code: 0, err: "" });
    expect(run.out).toContain("No configuration files of other clients found.");
    const json = await createSandbox().cli(["sync", "--json"]);
    expect(json.json).toEqual({ clients: [], written: [], failed: [] });
  });

  it("shows what is missing, different, switched off or only there, and exits with 1", async () => {
    const box = await oncePushed();
    const run = await box.cli(["sync"]);
    expect(run.code).toBe(1);
    expect(run.out).toMatch(/Codex.*config\.toml[\s\S]*missing +db[\s\S]*differs +notes +url/);
    expect(run.out).toMatch(/only there +mine, switched off/);
    expect(run.out).toMatch(/Cursor[\s\S]*same +db\n[\s\S]*only there +extra/);
    expect(run.out).not.toMatch(/ off\b.*\n.*off-mcp/);
    expect(box.read("home/.codex/config.toml")).toBe(codexFile);
    const { json } = await box.cli(["sync", "--json", "cursor"]);
    expect(json["clients"]).toMatchObject([
      {
        client: "cursor",
        onlyThere: [{ name: "extra", isEnabled: true }],
        servers: [{ name: "db", state: "same" }, {}],
      },
    ]);
  });

  it("repairs when asked, touches only what differs, and has nothing to do afterwards", async () => {
    const box = await oncePushed();
    const before = box.read("home/.cursor/mcp.json");
    const run = await box.cli(["sync", "--write", "--yes"]);
    expect(run.code).toBe(0);
    expect(box.read("home/.cursor/mcp.json")).toBe(before);
    expect(box.read("home/.codex/config.toml")).toContain("https://notes.example/mcp");
    const again = await box.cli(["sync"]);
    expect(again.code).toBe(0);
    expect(again.out).toContain("Your servers are the same there.");
    expect(again.out).toMatch(/off +notes +switched off there/);
    const after = box.read("home/.codex/config.toml");
    await box.cli(["sync", "--write", "--yes"]);
    expect(box.read("home/.codex/config.toml")).toBe(after);
  });

  it("asks in a terminal, and changes nothing after a no", async () => {
    const box = await oncePushed();
    const run = await box.cli(["sync"], { answers: [false] });
    expect(run.code).toBe(1);
    expect(box.read("home/.codex/config.toml")).toBe(codexFile);
    expect((await box.cli(["sync"], { answers: [true] })).code).toBe(0);
    expect(box.read("home/.codex/config.toml")).toContain("[mcp_servers.db]");
  });

  it("reports a file that cannot be read or written without giving up on the others", async () => {
    const box = createSandbox({ ...clients, "home/.gemini/settings.json": "{ broken" });
    const run = await box.cli(["sync", "--write", "--yes"]);
    expect(run.out).toMatch(/Gemini CLI[\s\S]*unreadable/);
    expect(run.code).toBe(1);
    expect(box.read("home/.codex/config.toml")).toContain("[mcp_servers.db]");
  });

  it("leaves a project's servers out of the user's files, and our own file alone", async () => {
    const box = createSandbox({
      "project/.mcp.json": { mcpServers: { shared: { command: "shared-mcp" } } },
      "home/.cursor/mcp.json": "{}",
      "project/.cursor/mcp.json": "{}",
    });
    await box.cli(["trust", "--yes"]);
    await box.cli(["sync", "--write", "--yes"]);
    expect(box.read("home/.cursor/mcp.json")).toBe("{}");
    expect(box.read("project/.cursor/mcp.json")).toContain("shared-mcp");
  });
});
