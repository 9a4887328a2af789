import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { formats } from "../../src/config.ts";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";

const user = "home/.config/plugboard/config.json";
const codex = "home/.codex/config.toml";
const cursor = "home/.cursor/mcp.json";
const servers = { notes: { command: "notes-mcp" }, db: { command: "uvx", args: ["db-mcp"] } };
const codexFile = '# mine\nmodel = "o4" # keep\n\n[mcp_servers.mine]\ncommand = "mine"\n';

/** A client's program, which says what a real one does. */
function program(box: Sandbox, name: string, script: string): void {
  const path = box.write(`bin/${name}`, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  box.env["PATH"] = `${dirname(path)}:${process.env["PATH"] ?? ""}`;
}

describe("M10 client add and remove", () => {
  it("shows the change, asks, writes it, and gives the file back", async () => {
    const box = createSandbox({ [codex]: codexFile });
    const no = await box.cli(["client", "add", "codex"], { answers: [false] });
    expect(no.asked).toEqual(["Write 1 file of other clients?"]);
    expect(no.out).toMatch(/add +plugboard\n +\+ command /);
    expect(no.out).toContain('"serve","--stdio"');
    expect(box.read(codex)).toBe(codexFile);
    const run = await box.cli(["client", "add", "codex"], { answers: [true] });
    expect(run).toMatchObject({ code: 0, err: "" });
    expect(run.out).toContain("plugboard client remove codex");
    expect(box.read(codex)).toContain(codexFile);
    expect(box.read(codex)).toContain("[mcp_servers.plugboard]");
    const wired = box.read(codex);
    expect((await box.cli(["client", "add", "codex", "--yes"])).out).toContain("Nothing to change.");
    expect(box.read(codex)).toBe(wired);
    const removed = await box.cli(["client", "remove", "codex"], { answers: [true] });
    expect(removed.out).toMatch(/remove +plugboard\n +- command /);
    expect(removed.out).toContain("as it was before");
    expect(box.read(codex)).toBe(codexFile);
    expect((await box.cli(["client", "remove", "codex", "--yes"])).out).toContain(
      "has no entry of Plugboard",
    );
  });

  it("writes nothing without a terminal or --yes, and nothing in a dry run", async () => {
    const box = createSandbox({ [codex]: codexFile });
    for (const verb of ["add", "remove"]) {
      if (verb === "remove") await box.cli(["client", "add", "codex", "--yes"]);
      const before = box.read(codex);
      const run = await box.cli(["client", verb, "codex"]);
      expect([run.code, run.err]).toEqual([2, expect.stringContaining("--yes")]);
      expect((await box.cli(["client", verb, "codex", "--dry-run"])).code).toBe(0);
      expect(box.read(codex)).toBe(before);
    }
  });

  it("wires several clients at once and prints JSON", async () => {
    const box = createSandbox({ [codex]: codexFile });
    const { json, code } = await box.cli(["client", "add", "codex", "cursor", "vibe", "--yes", "--json"]);
    expect(code).toBe(0);
    expect(json["written"]).toEqual([box.path(codex), box.path(cursor), box.path("home/.vibe/config.toml")]);
    const gone = await box.cli(["client", "remove", "codex", "cursor", "vibe", "--yes", "--json"]);
    expect(gone.json["written"]).toMatchObject([
      { client: "codex", how: "restored", isGone: false },
      { client: "cursor", how: "restored", isGone: true },
      { client: "vibe", how: "restored", isGone: true },
    ]);
    expect(existsSync(box.path("home/.cursor"))).toBe(false);
    expect(box.read(codex)).toBe(codexFile);
  });

  it("writes chosen servers themselves, and a gateway with one bundle or another configuration", async () => {
    const box = createSandbox({
      [user]: { mcpServers: servers, bundles: { reading: { servers: ["notes"] } } },
      "home/other.json": { mcpServers: {}, bundles: {} },
    });
    await box.cli(["client", "add", "cursor", "--server", "notes", "--server", "db", "--yes"]);
    expect(JSON.parse(box.read(cursor))).toEqual({ mcpServers: servers });
    await box.cli(["client", "add", "cursor", "--bundle", "reading", "--yes"]);
    expect(box.read(cursor)).toMatch(/"--bundle",\s+"reading"/);
    await box.cli(["client", "remove", "cursor", "--server", "notes", "--yes"]);
    expect(Object.keys((JSON.parse(box.read(cursor)) as { mcpServers: object }).mcpServers)).toEqual([
      "db",
      "plugboard",
    ]);
    const config = box.path("home/other.json");
    await box.cli(["client", "add", "cursor", "--yes", "--config", config]);
    expect(box.read(cursor)).toMatch(/"--config"/);
    await box.cli(["client", "remove", "cursor", "--yes"]);
    expect(existsSync(box.path(cursor))).toBe(false);
    const wrong = await box.cli(["client", "add", "cursor", "--bundle", "readng", "--yes"]);
    expect(wrong.err).toContain("Did you mean reading?");
  });

  it("never writes a token: a client takes it from a variable, or is refused --http", async () => {
    const box = createSandbox();
    box.env["PLUGBOARD_TOKEN"] = "canary-token-0123456789abcdef";
    const refused: string[] = [];
    for (const { id, files, merging } of formats) {
      const file = files({ home: box.home, platform: "linux", env: box.env, projectRoot: box.project });
      if (!merging || !file.some(({ scope }) => scope === "user")) continue;
      const run = await box.cli(["client", "add", id, "--http", "--yes", "--json"]);
      if (run.code !== 0) {
        expect([run.code, run.out + run.err]).toEqual([2, expect.stringContaining("plain text")]);
        expect(run.out + run.err).toContain("Leave out --http");
        refused.push(id);
        continue;
      }
      const { written } = run.json as { written: string[] };
      const text = readFileSync(written[0]!, "utf8");
      expect(text).toContain("http://127.0.0.1:7420/mcp");
      expect(text).toContain("PLUGBOARD_TOKEN");
      expect(text).not.toContain("canary");
      await box.cli(["client", "remove", id, "--yes"]);
    }
    const cannot = ["antigravity", "zed", "lm-studio", "goose", "cline", "qoder", "trae", "mastra"];
    expect(refused.toSorted()).toEqual(cannot.toSorted());
    const open = createSandbox({ [user]: { gateway: { auth: "none", port: 7500 } } });
    await open.cli(["client", "add", "zed", "--http", "--yes"]);
    expect(open.read("home/.config/zed/settings.json")).toContain("http://127.0.0.1:7500/mcp");
  });

  it("connects to one bundle of a running gateway, or to another URL", async () => {
    const box = createSandbox({
      [user]: { mcpServers: servers, bundles: { reading: { servers: ["notes"] } } },
    });
    await box.cli(["client", "add", "cursor", "--http", "--bundle", "reading", "--yes"]);
    expect(box.read(cursor)).toContain("http://127.0.0.1:7420/mcp/reading");
    await box.cli(["client", "add", "cursor", "--http", "http://127.0.0.1:7999/mcp", "--yes"]);
    expect(box.read(cursor)).toContain("http://127.0.0.1:7999/mcp");
    expect(box.read(cursor)).not.toContain("reading");
    await box.cli(["client", "remove", "cursor", "--yes"]);
    expect(existsSync(box.path(cursor))).toBe(false);
  });

  it("refuses what is not a URL, and options that do nothing together", async () => {
    const box = createSandbox({ [user]: { mcpServers: servers } });
    for (const args of [
      ["--http", "file:///etc/passwd"],
      ["--http", "http://ada:hunter2@127.0.0.1:7420/mcp"],
      ["--http", "--bundle", "x"],
      ["--server", "db", "--http"],
      ["--server", "nope"],
    ])
      expect((await box.cli(["client", "add", "cursor", "--yes", ...args])).code).toBeGreaterThan(1);
    expect(existsSync(box.path(cursor))).toBe(false);
  });

  it("shows a change within the screen, so that nothing in it looks like a line of ours", async () => {
    const args = ["serve", `${" ".repeat(9)}Wrote nothing at all. `.repeat(8)];
    const box = createSandbox({ [cursor]: { mcpServers: { plugboard: { command: "plugboard", args } } } });
    for (const columns of [50, 80]) {
      for (const verb of ["add", "remove"]) {
        const options = { screen: { columns, rows: 24 } };
        const { out } = await box.cli(["client", verb, "cursor", "--dry-run"], options);
        const [change = ""] = out.split("Nothing was changed.");
        expect(change).toContain("- args");
        for (const line of change.split("\n").filter(Boolean)) {
          expect(line.length, line).toBeLessThan(columns);
          expect(line).toMatch(/^(?: {2}|Cursor)/);
        }
      }
    }
  });

  it("leaves a server alone that a person put in the place of ours", async () => {
    const box = createSandbox({ [user]: { mcpServers: servers }, [cursor]: {} });
    const hers = JSON.stringify({
      mcpServers: {
        plugboard: { command: "hers", args: ["serve", "keep"] },
        db: { command: "hers-too" },
      },
    });
    await box.cli(["client", "add", "cursor", "--yes"]);
    await box.cli(["client", "add", "cursor", "--server", "db", "--yes"]);
    box.write(cursor, hers);
    expect((await box.cli(["client", "remove", "cursor", "--yes"])).out).toContain("no entry of Plugboard");
    for (const chosen of [[], ["--server", "db"]]) {
      const { out } = await box.cli(["client", "add", "cursor", "--yes", ...chosen]);
      expect(out).toContain("another server has this name there");
    }
    expect(box.read(cursor)).toBe(hers);
    await box.cli(["client", "add", "cursor", "--server", "notes", "--yes"]);
    await box.cli(["client", "remove", "cursor", "--yes"]);
    expect(JSON.parse(box.read(cursor))).toEqual(JSON.parse(hers));
  });

  it("takes out an entry of ours whose arguments a person changed", async () => {
    const box = createSandbox({ [user]: { mcpServers: servers }, [cursor]: {} });
    await box.cli(["client", "add", "cursor", "--server", "db", "--yes"]);
    const { mcpServers } = JSON.parse(box.read(cursor)) as { mcpServers: { db: object } };
    box.write(cursor, { mcpServers: { db: { ...mcpServers.db, args: ["--other"] } } });
    await box.cli(["client", "remove", "cursor", "--yes"]);
    expect(box.read(cursor)).not.toContain("db");
  });

  it("leaves another server of that name alone, and updates an older gateway", async () => {
    const box = createSandbox({
      [cursor]: { mcpServers: { plugboard: { command: "another-plugboard" } } },
      [codex]:
        '[mcp_servers.plugboard]\ncommand = "npx"\nargs = ["-y", "plugboard@0.0.1", "serve", "--stdio"]\ntool_timeout_sec = 9\n',
    });
    const before = box.read(cursor);
    const kept = await box.cli(["client", "add", "cursor", "--yes"]);
    expect(kept.code).toBe(1);
    expect(kept.out).toMatch(/keep +plugboard +another server has this name there/);
    expect((await box.cli(["client", "remove", "cursor", "--yes"])).out).toContain("no entry of Plugboard");
    expect(box.read(cursor)).toBe(before);
    const run = await box.cli(["client", "add", "codex", "--yes"]);
    expect(run.out).toMatch(/change +plugboard/);
    expect(box.read(codex)).toContain("tool_timeout_sec = 9");
    expect(box.read(codex)).not.toContain("0.0.1");
    await box.cli(["client", "remove", "codex", "--yes"]);
    expect(box.read(codex)).toContain("plugboard@0.0.1");
    await box.cli(["client", "remove", "codex", "--yes"]);
    expect(box.read(codex).trim()).toBe("");
  });

  it("follows a link, and keeps it", async () => {
    const box = createSandbox({ "home/dotfiles/mcp.json": '{ "mcpServers": {} }' });
    mkdirSync(box.path("home/.cursor"));
    symlinkSync(box.path("home/dotfiles/mcp.json"), box.path(cursor));
    await box.cli(["client", "add", "cursor", "--yes"]);
    expect(box.read("home/dotfiles/mcp.json")).toContain("plugboard");
    await box.cli(["client", "remove", "cursor", "--yes"]);
    expect(box.read("home/dotfiles/mcp.json")).toBe('{ "mcpServers": {} }');
    expect(lstatSync(box.path(cursor)).isSymbolicLink()).toBe(true);
  });

  it("names the line of a file that is broken, and leaves all files alone", async () => {
    const box = createSandbox({ [cursor]: '{\n  "mcpServers": {\n' });
    const run = await box.cli(["client", "add", "codex", "cursor", "--yes"]);
    expect(run.code).toBe(3);
    expect(run.err).toMatch(/cannot be edited: .*line 3/);
    expect(existsSync(box.path(codex))).toBe(false);
    expect(box.read(cursor)).toBe('{\n  "mcpServers": {\n');
  });

  it("writes a project's file so that others can use it, but not our own", async () => {
    const box = createSandbox();
    const run = await box.cli(["client", "add", "cursor", "--scope", "project", "--yes"]);
    expect(run.code).toBe(0);
    expect(box.read("project/.cursor/mcp.json")).toMatch(/"npx"[\s\S]*plugboard@/);
    expect(box.read("project/.cursor/mcp.json")).not.toContain(box.home);
    await box.cli(["client", "remove", "cursor", "--scope", "project", "--yes"]);
    expect(existsSync(box.path("project/.cursor"))).toBe(false);
    const none = await box.cli(["client", "add", "goose", "--scope", "project", "--yes"]);
    expect(none.err).toContain("no file for the project scope");
  });

  it("says which servers a client gets only in this project", async () => {
    const box = createSandbox({ [user]: { mcpServers: servers } });
    expect((await box.cli(["client", "add", "codex", "--dry-run"])).out).not.toContain("this project");
    await box.cli(["add", "here", "--scope", "local", "--", "here-mcp"]);
    const run = await box.cli(["client", "add", "codex", "--dry-run"]);
    expect(run.out).toContain("only if the client starts Plugboard in it: here.");
  });

  it("is no server to import, and is not offered as one", async () => {
    const box = createSandbox({ [codex]: codexFile });
    await box.cli(["client", "add", "codex", "--yes"]);
    const run = await box.cli(["import", "codex", "--yes"]);
    expect(run.out).toMatch(/skip +plugboard +it is this gateway/);
    expect(Object.keys((JSON.parse(box.read(user)) as { mcpServers: object }).mcpServers)).toEqual(["mine"]);
    expect((await box.cli(["sync", "codex"])).out).not.toContain("plugboard import codex");
  });
});

describe("M10 client and client check", () => {
  it("lists the clients on this machine and what they have", async () => {
    const box = createSandbox({
      [codex]: codexFile,
      "home/.gemini/settings.json": "{ broken",
      "home/.kiro/settings/mcp.json": { mcpServers: { plugboard: { command: "another" } } },
      "project/.cursor/mcp.json": "{}",
    });
    expect((await box.cli(["client"])).out).toMatch(/codex +not wired/);
    await box.cli(["client", "add", "codex", "--yes"]);
    const run = await box.cli(["client"]);
    expect(run.out).toMatch(/codex +wired, over stdio/);
    expect(run.out).toMatch(/gemini +unreadable: .*line 1/);
    expect(run.out).toMatch(/kiro +another server is called plugboard/);
    expect(run.out).toMatch(/cursor +not wired \(project\)/);
    expect(run.out).not.toContain("windsurf");
    const { json } = await box.cli(["client", "--json"]);
    expect(json["clients"]).toContainEqual(expect.objectContaining({ client: "codex", state: "wired" }));
  });

  it("asks the client's own command, and says what it says", async () => {
    const box = createSandbox();
    program(box, "claude", '[ "$3" = plugboard ] && printf "plugboard:\\n  Status: ✔ Connected\\n"');
    program(box, "gemini", 'echo "✗ plugboard: node serve --stdio (stdio) - Disconnected"');
    program(box, "codex", 'echo "plugboard\\n  enabled: true"');
    await box.cli(["client", "add", "claude-code", "gemini", "codex", "cursor", "--yes"]);
    const run = await box.cli(["client", "check"]);
    expect(run.code).toBe(1);
    expect(run.out).toMatch(
      /Claude Code.*\n +wired, connected\n +claude mcp get plugboard: Status: ✔ Connected/,
    );
    expect(run.out).toMatch(/Gemini CLI.*\n +problem\n +.*gemini mcp list.* says: ✗ plugboard/);
    const { json, code } = await box.cli(["client", "check", "codex", "cursor", "--json"]);
    expect(code).toBe(0);
    expect(json["clients"]).toMatchObject([
      { client: "codex", problems: [], health: { state: "listed" } },
      { client: "cursor", problems: [] },
    ]);
    expect((await box.cli(["client", "check", "gemini", "--no-ask"])).code).toBe(0);
  });

  it("finds what is not wired, switched off, or leads to something that is gone", async () => {
    const box = createSandbox();
    await box.cli(["client", "add", "codex", "--yes"]);
    const wired = box.read(codex);
    writeFileSync(box.path(codex), wired.replace(/args = \["[^"]*"/, 'args = ["/gone/main.js"'));
    const gone = await box.cli(["client", "check", "codex"]);
    expect(gone.code).toBe(1);
    expect(gone.out).toMatch(
      /starts \/gone\/main\.js, which is not there: run `plugboard client add codex` again/,
    );
    writeFileSync(box.path(codex), `${wired.trimEnd()}\nenabled = false\n`);
    expect((await box.cli(["client", "check"])).out).toContain("switched off there");
    const none = await box.cli(["client", "check", "cursor"]);
    expect([none.code, none.out]).toEqual([1, expect.stringContaining("plugboard client add cursor")]);
  });

  it("says that nothing answers where no gateway runs", async () => {
    const box = createSandbox({ [user]: { gateway: { port: 1 } } });
    await box.cli(["client", "add", "codex", "--http", "--yes"]);
    const run = await box.cli(["client", "check", "codex"]);
    expect(run.code).toBe(1);
    expect(run.out).toContain("nothing answers at http://127.0.0.1:1/mcp");
    expect(run.out).toContain("PLUGBOARD_TOKEN is not set in this shell");
  });
});
