import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { describe, expect, it } from "vitest";
import { Workspace } from "../../src/config.ts";
import { loadConfig } from "../../src/index.ts";
import { runNode } from "../run-command.ts";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";

const command = join(import.meta.dirname, "..", "..", "src", "cli", "main.ts");

describe("M01 state and configuration are where the user said", () => {
  const places = {
    "/": () => "/",
    "a folder above the home": ({ root }: Sandbox) => root,
    "the home": ({ home }: Sandbox) => home,
    "a home that is a repository": ({ home }: Sandbox) => (mkdirSync(join(home, ".git")), home),
  };

  it.each(Object.entries(places))("in %s", async (_name, where) => {
    const box = createSandbox();
    const env = {
      ...box.env,
      XDG_STATE_HOME: box.path("home/elsewhere/state"),
      XDG_CONFIG_HOME: box.path("home/elsewhere/config"),
    };
    await using workspace = await Workspace.open({ cwd: where(box), env });
    await (await workspace.vault()).set("secret/A", "v");
    await workspace.add("files", { command: "x" }, { scope: "user" });
    expect(workspace.folders.ignored).toEqual([]);
    expect(existsSync(box.path("home/elsewhere/state/plugboard/vault/vault.json"))).toBe(true);
    expect(existsSync(box.path("home/elsewhere/config/plugboard/config.json"))).toBe(true);
    expect(existsSync(box.path("home/.local")) || existsSync(box.path("home/.config"))).toBe(false);
  });

  it("but never inside a project, which must not choose them", async () => {
    const box = createSandbox();
    const env = { ...box.env, XDG_STATE_HOME: box.path("project/state") };
    const { folders } = await Workspace.open({ cwd: box.project, env });
    expect([folders.state, folders.ignored]).toEqual([
      box.path("home/.local/state/plugboard"),
      ["XDG_STATE_HOME"],
    ]);
  });

  it("nor inside a project that the variable names through a link", async () => {
    const box = createSandbox();
    symlinkSync(box.project, box.path("home/link"));
    const env = { ...box.env, XDG_STATE_HOME: box.path("home/link/state") };
    const { folders } = await Workspace.open({ cwd: box.project, env });
    expect([folders.state, folders.ignored]).toEqual([
      box.path("home/.local/state/plugboard"),
      ["XDG_STATE_HOME"],
    ]);
  });

  it("in a home that is reached through a link, as everywhere", async () => {
    const box = createSandbox();
    symlinkSync(box.home, box.path("linked"));
    const env = { ...box.env, HOME: box.path("linked"), XDG_STATE_HOME: box.path("home/state") };
    const { folders } = await Workspace.open({ cwd: box.home, env });
    expect([folders.state, folders.ignored]).toEqual([box.path("home/state/plugboard"), []]);
  });

  it.each(["", "relative/home"])("with HOME=%j, never in the current folder", async (home) => {
    const box = createSandbox();
    const ran = await runNode([command, "config", "path", "--json"], {
      cwd: box.project,
      env: { ...box.env, HOME: home },
    });
    expect(ran).toMatchObject({ code: 0, err: "" });
    expect(isAbsolute(JSON.parse(ran.out).state)).toBe(true);
    expect(JSON.parse(ran.out).state).not.toContain(box.root);
    expect(existsSync(box.path("project/.local"))).toBe(false);
    expect(existsSync(box.path("project/relative"))).toBe(false);
  });
});

describe("M01 with PLUGBOARD_CONFIG", () => {
  it.each(["home/own.json", "project/own.json"])(
    "commands change the file that is read: %s",
    async (name) => {
      const box = createSandbox({ [name]: '{ // ours\n "mcpServers": {} }' });
      box.env["PLUGBOARD_CONFIG"] = box.path(name);
      const added = await box.cli(["add", "files", "--json", "--", "npx", "files"]);
      expect(added).toMatchObject({ code: 0 });
      expect(added.out).toContain(box.path(name));
      const shown = () => box.cli(["get", "files", "--json"]);
      expect((await shown()).json).toMatchObject({ state: "ready" });
      await box.cli(["disable", "files"]);
      expect((await shown()).json).toMatchObject({ enabled: false });
      await box.cli(["enable", "files"]);
      expect((await shown()).json).toMatchObject({ state: "ready" });
      expect((await box.cli(["remove", "files"])).code).toBe(0);
      expect(box.read(name)).toContain("// ours");
      expect(JSON.parse(box.read(name).replace("// ours", ""))).toEqual({ mcpServers: {} });
      expect(existsSync(join(box.folders.state, "projects"))).toBe(false);
      expect(existsSync(box.path("home/.config"))).toBe(false);
    },
  );

  it("adding a server creates the file, for this user only; reading it does not", async () => {
    const box = createSandbox({ "theirs.json": { mcpServers: { b: { command: "x" } } } });
    box.env["PLUGBOARD_CONFIG"] = box.path("home/new/own.json");
    for (const args of [["list"], ["doctor"], ["remove", "a"]])
      expect(await box.cli(args)).toMatchObject({ code: 3, err: expect.stringContaining("File not found") });
    expect(existsSync(box.path("home/new"))).toBe(false);
    expect((await box.cli(["add", "a", "--", "x"])).code).toBe(0);
    expect(JSON.parse(box.read("home/new/own.json"))).toEqual({ mcpServers: { a: { command: "x" } } });
    expect(statSync(box.path("home/new/own.json")).mode & 0o777).toBe(0o600);
    const other = ["--config", box.path("home/other.json")];
    const imported = await box.cli(["import", "cursor", "--from", box.path("theirs.json"), "-y", ...other]);
    expect(imported.code).toBe(0);
    expect(JSON.parse(box.read("home/other.json"))).toEqual({ mcpServers: { b: { command: "x" } } });
  });

  it("a file is the user's choice in every folder but inside a project", async () => {
    const named = { mcpServers: { it: { command: "x" } } };
    const box = createSandbox({ "home/own.json": named, "project/own.json": named });
    const load = (cwd: string, file: string) =>
      loadConfig({ ...box.options, cwd, env: { ...box.env, PLUGBOARD_CONFIG: box.path(file) } });
    for (const cwd of ["/", box.home, box.project])
      expect((await load(cwd, "home/own.json")).servers.get("it")?.status.kind).toBe("ready");
    expect((await load(box.project, "project/own.json")).servers.get("it")?.status).toMatchObject({
      reason: "untrusted",
    });
  });

  it("an import goes there too", async () => {
    const box = createSandbox({
      "home/own.json": {},
      "theirs.json": { mcpServers: { a: { command: "x" } } },
    });
    box.env["PLUGBOARD_CONFIG"] = box.path("home/own.json");
    const run = await box.cli(["import", "claude-desktop", "--from", box.path("theirs.json"), "--yes"]);
    expect(run.code).toBe(0);
    expect(JSON.parse(box.read("home/own.json"))).toEqual({ mcpServers: { a: { command: "x" } } });
  });
});

describe("M04 a file that is not UTF-8", () => {
  const latin1 = Buffer.from('{ "mcpServers": { "a": { "command": "caf\u00e9" } } }', "latin1");

  it("is refused, with the place, and never rewritten", async () => {
    const box = createSandbox({ "home/.config/plugboard/config.json": {} });
    const file = box.path("home/.config/plugboard/config.json");
    writeFileSync(file, latin1);
    const { diagnostics } = await loadConfig(box.options);
    expect(diagnostics).toMatchObject([
      { severity: "error", file, message: expect.stringContaining("not UTF-8 text (byte 41 is 0xe9)") },
    ]);
    const added = await box.cli(["add", "b", "-s", "user", "--", "y"]);
    expect(added.code).toBe(3);
    expect(added.err).toContain("not UTF-8");
    expect(readFileSync(file)).toEqual(latin1);
  });

  it("of another client is not imported", async () => {
    const box = createSandbox({ "theirs.json": "" });
    writeFileSync(box.path("theirs.json"), latin1);
    const run = await box.cli([
      "import",
      "claude-desktop",
      "--from",
      box.path("theirs.json"),
      "--yes",
      "-s",
      "user",
    ]);
    expect(run.out).toContain("not UTF-8");
    expect(run.code).toBe(3);
    expect(existsSync(box.path("home/.config"))).toBe(false);
  });

  it("of one client does not keep the others from being imported", async () => {
    const box = createSandbox({
      "home/.cursor/mcp.json": "{",
      "home/.codeium/windsurf/mcp_config.json": { mcpServers: { a: { command: "x" } } },
    });
    expect(await box.cli(["import", "--yes"])).toMatchObject({
      code: 0,
      out: expect.stringContaining("unreadable"),
    });
    expect((await box.cli(["list", "--json"])).json).toMatchObject({ servers: [{ name: "a" }] });
    expect((await box.cli(["import", "cursor"])).code).toBe(3);
  });

  it("but with a byte order mark is read, and keeps it when it is edited", async () => {
    const box = createSandbox({ "home/.config/plugboard/config.json": '\uFEFF{ "mcpServers": {} }' });
    expect((await box.cli(["add", "b", "-s", "user", "--", "y"])).code).toBe(0);
    const text = box.read("home/.config/plugboard/config.json");
    expect([text[0], JSON.parse(text.slice(1))]).toEqual(["\uFEFF", { mcpServers: { b: { command: "y" } } }]);
  });
});
