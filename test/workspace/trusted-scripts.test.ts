import { chmodSync, existsSync, rmSync, symlinkSync, truncateSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { Workspace, watchConfig } from "../../src/config.ts";
import { createHub } from "../../src/index.ts";
import type { ServerEntry } from "../../src/config.ts";
import type { LoadedConfig } from "../../src/index.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";
import { plainHttp } from "../servers/http-fixture.ts";

type Files = Record<string, string | object>;

async function openTrusted(entry: object, files: Files = {}) {
  const box = createSandbox({ "project/.mcp.json": { mcpServers: { it: entry } }, ...files });
  const workspace = await Workspace.open(box.options);
  onTestFinished(() => workspace.close());
  const load = async (): Promise<ServerEntry> => workspace.require(await workspace.load(), "it");
  await workspace.trust(await load());
  expect((await load()).status).toEqual({ kind: "ready" });
  return { box, workspace, load };
}

const changed = (path: string) => ({
  kind: "disabled",
  reason: "untrusted",
  message: `${path} changed since you trusted it`,
  hint: expect.stringContaining("plugboard trust it"),
});

describe("M11 trust covers the project's scripts that an entry runs", () => {
  it.each<[string, object, string]>([
    ["an interpreter's script", { command: "node", args: ["./srv.js"] }, "srv.js"],
    ["a script without ./", { command: "python3", args: ["-u", "srv.py"] }, "srv.py"],
    ["a program", { command: "./run.sh" }, "run.sh"],
    ["a script relative to cwd", { command: "node", args: ["srv.js"], cwd: "server" }, "server/srv.js"],
    ["a module without its ending", { command: "node", args: ["./lib/srv"] }, "lib/srv.js"],
    ["a folder's main file", { command: "node", args: ["./app"] }, "app/main.js"],
    ["a Python module", { command: "python", args: ["-m", "pkg.srv"] }, "pkg/srv.py"],
    ["an option's value", { command: "node", args: ["--import=./hook.mjs", "-"] }, "hook.mjs"],
    ["a shell's script", { command: "sh", args: ["-c", "cd . && node 'lib/srv.js' | tee x"] }, "lib/srv.js"],
    [
      "a script in a folder that is named",
      { command: "uv", args: ["--directory", "server", "run", "srv.js"] },
      "server/srv.js",
    ],
    ["a script of any name", { command: "node", args: ["--no-warnings", "./srv.txt"] }, "srv.txt"],
    ["a variable's default", { command: "node", args: ["${SCRIPT:-./srv.js}"] }, "srv.js"],
    ["what a variable loads", { command: "x", env: { NODE_OPTIONS: "--require ./hook.mjs" } }, "hook.mjs"],
    ["a program of a PATH of its own", { command: "tool", env: { PATH: "./bin:${PATH}" } }, "bin/tool"],
    ["a helper for headers", { url: "https://x.example", headersHelper: ["./run.sh"] }, "run.sh"],
    ["a command of a reference", { command: "x", env: { A: "${cmd:./run.sh a}" } }, "run.sh"],
    ["a script after a semicolon", { command: "sh", args: ["-c", "true;./run.sh"] }, "run.sh"],
    [
      "a script in a shell's folder",
      { command: "sh", args: ["-c", "cd server&&node srv.js"] },
      "server/srv.js",
    ],
    ["a module of a script", { command: "node", args: ["-e", "import('./hook.mjs')"] }, "hook.mjs"],
    ["a module of a Python script", { command: "python3", args: ["-c", "import srv; srv.run()"] }, "srv.py"],
    ["a Python module joined to its option", { command: "python3", args: ["-um", "pkg.srv"] }, "pkg/srv.py"],
    ["a Python module after its option", { command: "python3", args: ["-mpkg.srv"] }, "pkg/srv.py"],
    ["a package of a Python module", { command: "python3", args: ["-m", "pkg.srv"] }, "pkg/__init__.py"],
    [
      "a Python module in a folder of a variable",
      { command: "python3", args: ["-m", "tool"], env: { PYTHONPATH: "lib" } },
      "lib/tool.py",
    ],
    [
      "what Python loads at every start",
      { command: "uvx", args: ["mcp-server-git"], env: { PYTHONPATH: "lib" } },
      "lib/sitecustomize.py",
    ],
    ["an option's value without a space", { command: "ruby", args: ["-r./lib/hook", "x"] }, "lib/hook.rb"],
    ["a script after a value", { command: "node", args: ["-C", "dev", "./srv.txt"] }, "srv.txt"],
    ["a script behind another program", { command: "env", args: ["A=1", "./srv.txt"] }, "srv.txt"],
    [
      "a script in a container",
      { command: "docker", args: ["run", "-v", "./run.sh:/run.sh", "alpine", "/run.sh"] },
      "run.sh",
    ],
    [
      "the project's copy of a package",
      { command: "npx", args: ["-y", "@a/b@1"] },
      "node_modules/@a/b/cli.js",
    ],
    ["the project's settings of npx", { command: "npx", args: ["-y", "c"] }, ".npmrc"],
    ["a task", { command: "npm", args: ["run", "mcp"] }, "package.json"],
    ["a task of a folder", { command: "npm", args: ["--prefix", "app", "run", "mcp"] }, "app/package.json"],
    ["a container's description", { command: "docker", args: ["compose", "run", "x"] }, "compose.yaml"],
    ["an authority", { url: "https://x.example", network: { ca: "./ca.pem" } }, "ca.pem"],
    ["a file that becomes an argument", { command: "node", args: ["-e", "${file:srv.js}"] }, "srv.js"],
  ])("%s", async (_, entry, file) => {
    const scripts = ["srv.js", "srv.py", "srv.txt", "run.sh", "hook.mjs", "server/srv.js", "lib/srv.js"];
    const more = ["pkg/srv.py", "pkg/__init__.py", "app/main.js", "bin/tool", "lib/tool.py", "lib/hook.rb"];
    const read = ["lib/sitecustomize.py", "node_modules/@a/b/cli.js", ".npmrc", "compose.yaml", "ca.pem"];
    const files = Object.fromEntries(
      [...scripts, ...more, ...read].map((name) => [`project/${name}`, "one"]),
    );
    const box = createSandbox({
      ...files,
      "project/app/package.json": '{"main":"main"}',
      "project/package.json": "one",
      "project/node_modules/@a/b/package.json": { bin: "cli.js" },
      "project/.mcp.json": { mcpServers: { it: entry } },
    });
    chmodSync(box.path("project/bin/tool"), 0o755);
    await using workspace = await Workspace.open(box.options);
    const load = async () => workspace.require(await workspace.load(), "it");
    const first = await load();
    expect(first.status).toMatchObject({
      reason: "untrusted",
      message: expect.stringContaining("not trusted yet"),
    });
    await workspace.trust(first);
    expect((await load()).status).toEqual({ kind: "ready" });
    box.write("project/unrelated.js", "changed");
    expect((await load()).status).toEqual({ kind: "ready" });
    const before = box.read(`project/${file}`);
    box.write(`project/${file}`, "two");
    expect((await load()).status).toEqual(changed(file));
    // A content that was trusted before is known, for example after another branch was checked out.
    box.write(`project/${file}`, before);
    expect((await load()).status).toEqual({ kind: "ready" });
  });

  it("asks about a script that appears or disappears", async () => {
    const { box, load } = await openTrusted({ command: "node", args: ["./srv.js"] });
    box.write("project/srv.js", "");
    expect((await load()).status).toEqual(changed("srv.js"));
    rmSync(box.path("project/srv.js"));
    expect((await load()).status).toEqual({ kind: "ready" });
  });

  it("does not ask about data that a server writes, folders, or programs of the machine", async () => {
    const args = ["./srv.js", "--db", "data.sqlite", "--log=./srv.log", "docs", process.execPath];
    const { box, load } = await openTrusted(
      { command: "node", args, env: { DB_FILE: "./data.sqlite" } },
      { "project/srv.js": "", "project/data.sqlite": "", "project/srv.log": "", "project/docs/a.md": "" },
    );
    for (const name of ["data.sqlite", "srv.log", "docs/a.md", "docs/b.js"])
      box.write(`project/${name}`, "more");
    const entry = await load();
    expect(entry.status).toEqual({ kind: "ready" });
    expect(Object.keys(entry.trustedScripts ?? {})).toEqual(["srv.js"]);
  });

  it.each([
    "npx -y @modelcontextprotocol/server-filesystem .",
    "npx -y mcp-sqlite ./data.sqlite",
    "npx -y mcp-sqlite --db=./data.sqlite",
    "uvx mcp-server-sqlite --db-path data.sqlite",
    "uvx --python 3.12 mcp-server-git --repository docs",
    "docker run -i --rm -v ./data.sqlite:/data.sqlite -v ./docs:/docs mcp/sqlite:1.2",
    "deno run -A npm:mcp-sqlite --db data.sqlite",
  ])("does not ask about the data of an ordinary entry: %s", async (line) => {
    const [command = "", ...args] = line.split(" ");
    const files = { "project/data.sqlite": "", "project/docs/a.js": "", "project/package.json": "{}" };
    const { load } = await openTrusted({ command, args }, files);
    expect((await load()).trustedScripts).toEqual({});
  });

  it("follows a link inside the project, and for one that leaves it covers only where it leads", async () => {
    const files = { "project/real.js": "one", "outside.js": "one", "other.js": "one" };
    const box = createSandbox({
      ...files,
      "project/.mcp.json": { mcpServers: { it: { command: "node", args: ["in.js", "out.js"] } } },
    });
    symlinkSync("real.js", box.path("project/in.js"));
    symlinkSync(box.path("outside.js"), box.path("project/out.js"));
    await using workspace = await Workspace.open(box.options);
    const load = async () => workspace.require(await workspace.load(), "it");
    const [reviewed] = await workspace.decisions.review([await load()]);
    expect(reviewed?.files.map(({ path, linksTo }) => [path, linksTo])).toEqual([
      ["out.js", box.path("outside.js")],
      ["real.js", undefined],
    ]);
    await workspace.trust(await load());
    box.write("outside.js", "two");
    expect((await load()).status).toEqual({ kind: "ready" });
    rmSync(box.path("project/out.js"));
    symlinkSync(box.path("other.js"), box.path("project/out.js"));
    expect((await load()).status).toEqual(changed("out.js"));
  });

  it("covers what was shown, not what the file became while somebody read it", async () => {
    const { box, workspace, load } = await openTrusted(
      { command: "node", args: ["srv.js"] },
      { "project/srv.js": "one" },
    );
    box.write("project/srv.js", "two");
    const [shown] = await workspace.decisions.review([await load()]);
    box.write("project/srv.js", "three");
    await workspace.trust(await load(), shown);
    expect((await load()).status).toEqual(changed("srv.js"));
  });

  it("keeps the trust when a server is switched on or off, but not that of a changed script", async () => {
    const { box, workspace, load } = await openTrusted(
      { command: "node", args: ["srv.js"] },
      { "project/srv.js": "one" },
    );
    await workspace.setEnabled("it", false);
    await workspace.setEnabled("it", true);
    expect((await load()).status).toEqual({ kind: "ready" });
    box.write("project/srv.js", "two");
    await workspace.setEnabled("it", false);
    await workspace.setEnabled("it", true);
    expect((await load()).status).toEqual(changed("srv.js"));
  });

  it("refuses files that are too large or too many, with the reason", async () => {
    const many = Array.from({ length: 70 }, (_, index) => `f${index}.js`);
    const box = createSandbox({
      ...Object.fromEntries(many.map((name) => [`project/${name}`, ""])),
      "project/.mcp.json": {
        mcpServers: { big: { command: "./big" }, many: { command: "node", args: many } },
      },
      "project/big": "",
    });
    truncateSync(box.path("project/big"), 300_000_000);
    await using workspace = await Workspace.open(box.options);
    const { servers } = await workspace.load();
    const trust = (name: string) => workspace.trust(servers.get(name) as ServerEntry);
    await expect(trust("big")).rejects.toMatchObject({
      code: "untrusted",
      message: expect.stringContaining("big is too large: trust covers at most 256 MB of scripts"),
    });
    await expect(trust("many")).rejects.toMatchObject({
      message: expect.stringContaining("it names more than 64 files of the project"),
    });
  });

  it("reads no script of an entry that nobody trusted", async () => {
    const box = createSandbox({ "project/.mcp.json": { mcpServers: { it: { command: "./big" } } } });
    box.write("project/big", "");
    truncateSync(box.path("project/big"), 300_000_000);
    await using workspace = await Workspace.open(box.options);
    const { status } = workspace.require(await workspace.load(), "it");
    expect(status).toMatchObject({ message: "this project's entry is not trusted yet" });
  });
});

describe("M11 a script that changes while a hub runs", () => {
  const server = fakeStdio({});

  /** A server's program in the project, which leaves a mark when it runs. */
  function program(box: Sandbox, mark: string): string {
    const start = [server.command, ...server.args].map((word) => `'${word}'`).join(" ");
    return `#!/bin/sh\ntouch '${box.path(mark)}'\nexec ${start}\n`;
  }

  async function scene() {
    const env = server.env ?? {};
    const box = createSandbox({
      "project/.mcp.json": { mcpServers: { it: { command: "sh", args: ["run"], env } } },
    });
    box.write("project/run", program(box, "first"));
    const workspace = await Workspace.open(box.options);
    onTestFinished(() => workspace.close());
    await workspace.trust(workspace.require(await workspace.load(), "it"));
    const config = await workspace.load();
    const hub = await createHub(config, await workspace.hubOptions(config));
    onTestFinished(() => hub.close());
    return { box, workspace, hub };
  }

  it("is judged again at every start, and does not run", async () => {
    const { box, workspace, hub } = await scene();
    await hub.connect("it");
    await hub.disconnect("it");
    box.write("project/run", program(box, "second"));
    await expect(hub.connect("it")).rejects.toMatchObject({
      code: "untrusted",
      message: expect.stringContaining("run changed since you trusted it"),
      hint: expect.stringContaining("plugboard trust it"),
    });
    expect([existsSync(box.path("first")), existsSync(box.path("second"))]).toEqual([true, false]);
    await workspace.trust(workspace.require(await workspace.load(), "it"));
    await hub.reload(await workspace.load());
    await hub.connect("it");
    expect(existsSync(box.path("second"))).toBe(true);
  });

  it("does not start after its trust was revoked somewhere else", async () => {
    const { box, hub } = await scene();
    await hub.connect("it");
    await hub.disconnect("it");
    rmSync(box.path("first"));
    expect((await box.cli(["trust", "it", "--revoke"])).out).toBe("it is no longer trusted.\n");
    await expect(hub.connect("it")).rejects.toMatchObject({
      code: "untrusted",
      message: 'Server "it" was not started: you revoked your trust in it.',
    });
    expect(existsSync(box.path("first"))).toBe(false);
    await box.cli(["trust", "it", "--yes"]);
    await hub.connect("it");
    expect(existsSync(box.path("first"))).toBe(true);
  });

  it("stops the server at the next reload, which the change itself causes", async () => {
    const { box, workspace, hub } = await scene();
    await hub.connect("it");
    const { promise, resolve } = Promise.withResolvers<LoadedConfig>();
    const watch = await watchConfig(workspace, { current: hub.config, onChange: resolve });
    onTestFinished(() => watch.close());
    box.write("project/run", program(box, "second"));
    await hub.reload(await promise);
    expect(hub.status()[0]).toMatchObject({ state: "disabled", disabledReason: "untrusted" });
  });

  it("does not run as a helper or as the command of a reference", async () => {
    const { origin: url } = await plainHttp((_request, response) => void response.writeHead(401).end());
    for (const entry of [
      { url, headersHelper: ["sh", "./value"] },
      { url, headers: { "X-Api-Key": "${cmd:sh ./value}" } },
    ]) {
      const box = createSandbox({
        "project/.mcp.json": { mcpServers: { it: entry } },
        "project/value": "echo A: b",
      });
      await using workspace = await Workspace.open(box.options);
      await workspace.trust(workspace.require(await workspace.load(), "it"));
      const config = await workspace.load();
      await using hub = await createHub(config, await workspace.hubOptions(config));
      box.write("project/value", `touch '${box.path("ran")}'; echo A: b`);
      await expect(hub.connect("it")).rejects.toMatchObject({ code: "untrusted" });
      expect(existsSync(box.path("ran"))).toBe(false);
    }
  });

  it("does not run if only a value that is looked up names it", async () => {
    const { box, workspace, hub } = await scene();
    box.write("project/.mcp.json", {
      mcpServers: { it: { command: "sh", args: ["${secret:SCRIPT}"], env: server.env ?? {} } },
    });
    box.env["SCRIPT"] = "./run";
    await workspace.trust(workspace.require(await workspace.load(), "it"));
    await hub.reload(await workspace.load());
    await expect(hub.connect("it")).rejects.toMatchObject({ code: "untrusted" });
    expect(existsSync(box.path("first"))).toBe(false);
  });

  it("does not run in the folder of another project", async () => {
    const { box, workspace, hub } = await scene();
    box.write("project/.mcp.json", {
      mcpServers: { it: { command: "sh", args: ["./run"], env: server.env ?? {}, isolation: "project" } },
    });
    await workspace.trust(workspace.require(await workspace.load(), "it"));
    await hub.reload(await workspace.load());
    box.write("other/run", program(box, "elsewhere"));
    await expect(hub.connect("it", { project: box.path("other") })).rejects.toMatchObject({
      code: "untrusted",
    });
    expect(existsSync(box.path("elsewhere"))).toBe(false);
    await hub.connect("it", { project: box.project });
    expect(existsSync(box.path("first"))).toBe(true);
  });
});
