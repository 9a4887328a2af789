import { describe, expect, it } from "vitest";
import { createSandbox } from "../sandbox.ts";

const user = "home/.config/plugboard/config.json";
const claude = "home/.claude.json";
const codex = "home/.codex/config.toml";
const gemini = "home/.gemini/settings.json";

/** Two clients with a server of the same name, and Codex with rules of its own. */
const twoOfOneName = {
  [claude]: { mcpServers: { files: { command: "npx", args: ["files-mcp", "/srv/a"] } } },
  [codex]: `[mcp_servers.files]
command = "npx"
args = ["files-mcp", "/srv/b"]
enabled_tools = ["read"] # only what it needs
`,
};

interface Written {
  mcpServers: Record<string, Record<string, unknown>>;
}
const serversIn = (text: string) => (JSON.parse(text) as Written).mcpServers;

describe("M10 servers of one name in several clients", () => {
  it("stay two servers after an import: sync gives none the target of the other", async () => {
    const box = createSandbox(twoOfOneName);
    await box.cli(["import", "--yes"]);
    expect(Object.keys(serversIn(box.read(user)))).toEqual(["files", "files-codex"]);
    const run = await box.cli(["sync", "--write", "--yes"]);
    expect(run).toMatchObject({ code: 0, err: "" });
    expect(run.out).toMatch(/same +files-codex \(files there\)/);
    expect(run.out).toMatch(/left +files +its name is taken there by what is called "files-codex" here/);
    expect(box.read(codex)).toBe(twoOfOneName[codex]);
    expect(serversIn(box.read(claude))["files"]).toEqual(twoOfOneName[claude].mcpServers.files);
    expect(serversIn(box.read(claude))["files-codex"]).toMatchObject({ args: ["files-mcp", "/srv/b"] });
    expect((await box.cli(["sync"])).code).toBe(0);
  });

  it("keep their names when one of them changes here later", async () => {
    const box = createSandbox(twoOfOneName);
    await box.cli(["import", "--yes"]);
    box.write(user, box.read(user).replace("/srv/b", "/srv/new"));
    await box.cli(["sync", "codex", "--write", "--yes"]);
    expect(box.read(codex)).toBe(twoOfOneName[codex].replace("/srv/b", "/srv/new"));
    box.write(user, box.read(user).replace("/srv/a", "/srv/elsewhere"));
    expect((await box.cli(["sync", "codex"])).out).not.toContain("differs");
  });

  it("are shown as two where nobody imported theirs, and none replaces the other without being named", async () => {
    const box = createSandbox({
      ...twoOfOneName,
      [user]: { mcpServers: { files: { command: "npx", args: ["files-mcp", "/srv/a"] } } },
    });
    const run = await box.cli(["sync", "codex", "--write", "--yes"]);
    expect(run.code).toBe(1);
    expect(run.out).toMatch(/other +files +another server has this name there/);
    expect(run.out).toMatch(/there +command "npx" +args \["files-mcp","\/srv\/b"\]/);
    expect(run.out).toMatch(/here +command "npx" +args \["files-mcp","\/srv\/a"\]/);
    expect(run.out).toContain("plugboard export codex --write --server files");
    expect(box.read(codex)).toBe(twoOfOneName[codex]);
    await box.cli(["export", "codex", "--write", "--yes", "--server", "files"]);
    expect(box.read(codex)).toContain("/srv/a");
    expect(box.read(codex)).not.toContain("enabled_tools");
    expect((await box.cli(["sync", "codex"])).code).toBe(0);
  });

  it("mean nothing any more after the server was removed here", async () => {
    const box = createSandbox(twoOfOneName);
    await box.cli(["import", "--yes"]);
    await box.cli(["remove", "files-codex"]);
    await box.cli(["add", "files-codex", "--scope", "user", "--", "another"]);
    const run = await box.cli(["sync", "codex"]);
    expect(run.out).toMatch(/missing +files-codex\n/);
    expect(run.out).toMatch(/other +files +/);
  });
});

describe("M10 a second import", () => {
  it("changes nothing and says so, also after sync and after a change here", async () => {
    const box = createSandbox(twoOfOneName);
    await box.cli(["import", "--yes"]);
    await box.cli(["sync", "--write", "--yes"]);
    const before = box.read(user);
    const again = await box.cli(["import"]);
    expect(again).toMatchObject({ code: 0, err: "" });
    expect(again.out).toContain("Nothing to import: everything that was found is already configured.\n");
    expect(box.read(user)).toBe(before);
    box.write(user, before.replace("/srv/b", "/srv/new"));
    const changed = await box.cli(["import", "codex"]);
    expect(changed.out).toMatch(
      /keep +files-codex \(files there\) +yours is another server; it differs in args/,
    );
    expect(changed.out).not.toContain("already configured");
    expect(changed.out).toContain("there are no new servers");
  });

  it("calls only the same target already configured, and names what else differs", async () => {
    const box = createSandbox({
      [user]: { mcpServers: { db: { command: "db", env: { A: "1" } }, notes: { command: "notes" } } },
      "home/.cursor/mcp.json": {
        mcpServers: { db: { command: "db", env: { A: "2" } }, notes: { command: "other-notes" } },
      },
    });
    const run = await box.cli(["import", "cursor"]);
    expect(run.out).toMatch(/have +db +already configured; yours differs in env/);
    expect(run.out).toMatch(/keep +notes +yours is another server; it differs in command/);
    const { json } = await box.cli(["import", "cursor", "--dry-run", "--json"]);
    expect(json["servers"]).toMatchObject([
      { name: "db", action: "same", differs: ["env"] },
      { name: "notes", action: "taken", differs: ["command"] },
    ]);
  });

  it("says that another client has a server too, instead of calling it configured", async () => {
    const server = { mcpServers: { notes: { command: "notes" } } };
    const box = createSandbox({ [claude]: server, "home/.cursor/mcp.json": server });
    const run = await box.cli(["import", "--yes"]);
    expect(run.out).toMatch(/Cursor[\s\S]*same +notes +another client has it too/);
    expect(run.out).toContain("Added 1 server.");
    expect(run.out).not.toContain("already configured");
  });
});

describe("M10 leave to call tools unasked", () => {
  const unasked = {
    [gemini]: { mcpServers: { db: { command: "db", trust: true } } },
    "home/.kiro/settings/mcp.json": { mcpServers: { mail: { command: "mail", autoApprove: ["send"] } } },
    [codex]: 'model = "o4"\n',
  };

  it("is not taken over by an import, which says so, and reaches no other client", async () => {
    const box = createSandbox(unasked);
    const run = await box.cli(["import", "--yes"]);
    expect(run.out).toMatch(/lost +approval: Gemini CLI calls without asking, which is not taken over/);
    expect(run.out).toMatch(/lost +approval\.tools\.send: Kiro calls without asking/);
    expect(box.read(user)).not.toMatch(/approv/);
    await box.cli(["sync", "--write", "--yes"]);
    expect(box.read(codex)).not.toMatch(/approv/);
    expect(serversIn(box.read(gemini))).toEqual({
      db: { command: "db", trust: true },
      mail: { command: "mail" },
    });
    expect((await box.cli(["import"])).out).toContain("everything that was found is already configured");
  });

  it("is not written where we have it ourselves, and stays where a person set it", async () => {
    const box = createSandbox({
      ...unasked,
      [user]: { mcpServers: { db: { command: "db", approval: "approve" } } },
    });
    const run = await box.cli(["sync", "codex", "gemini", "--write", "--yes"]);
    expect(run.out).toMatch(/lost +approval: Plugboard calls without asking here/);
    expect(box.read(codex)).not.toMatch(/approv/);
    expect(serversIn(box.read(gemini))["db"]).toEqual({ command: "db", trust: true });
    expect((await box.cli(["sync", "codex", "gemini"])).code).toBe(0);
  });

  it("does not go along to another program", async () => {
    const box = createSandbox({ ...unasked, [user]: { mcpServers: { db: { command: "db" } } } });
    await box.cli(["sync", "gemini"]);
    box.write(user, { mcpServers: { db: { command: "other-db" } } });
    await box.cli(["sync", "gemini", "--write", "--yes"]);
    expect(serversIn(box.read(gemini))["db"]).toEqual({ command: "other-db" });
  });
});
