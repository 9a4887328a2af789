import { symlinkSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Workspace } from "../../src/config.ts";
import { loadConfig } from "../../src/index.ts";
import { createSandbox } from "../sandbox.ts";

const stdio = (command: string) => ({ mcpServers: { it: { command } } });

describe("M01 sources and precedence", () => {
  it("prefers overrides, then the inline variable, then files, and says where each value came from", async () => {
    const box = createSandbox({
      "project/.mcp.json": stdio("project"),
      "home/.config/plugboard/config.json": stdio("user"),
    });
    const commandNow = async (options: object = {}) => {
      const { servers } = await loadConfig({ ...box.options, ...options });
      return [servers.get("it")?.config?.command, servers.get("it")?.origin.scope];
    };
    expect(await commandNow()).toEqual(["project", "project"]);
    box.env["PLUGBOARD_CONFIG"] = box.write(
      "elsewhere/servers.toml",
      '[mcpServers.it]\ncommand = "variable"\n',
    );
    expect(await commandNow()).toEqual(["variable", "explicit"]);
    const path = box.write("named.yaml", "servers:\n  it:\n    command: named\n");
    expect(await commandNow({ path })).toEqual(["named", "explicit"]);
    box.env["PLUGBOARD_CONFIG_JSON"] = JSON.stringify(stdio("inline"));
    expect(await commandNow({ path })).toEqual(["inline", "inline"]);
    expect(await commandNow({ path, overrides: stdio("override") })).toEqual(["override", "override"]);
  });

  it("takes other top-level keys one by one from the highest source that has them", async () => {
    const box = createSandbox({
      "home/.config/plugboard/config.json": { toolSearch: "auto", output: { maxTokens: 5 } },
    });
    const { settings, settingOrigins } = await loadConfig({
      ...box.options,
      overrides: { output: { maxTokens: 9 } },
    });
    expect(settings).toEqual({ toolSearch: "auto", output: { maxTokens: 9 } });
    expect(settingOrigins["toolSearch"]).toMatchObject({ scope: "user", line: 2 });
  });

  it("fails if a named file does not exist, instead of loading no servers", async () => {
    const box = createSandbox();
    await expect(loadConfig({ ...box.options, path: "nowhere.json" })).rejects.toMatchObject({
      code: "config-unreadable",
    });
  });

  it("walks up to the repository's root, and no further", async () => {
    const box = createSandbox({
      "home/.mcp.json": stdio("above"),
      "project/.mcp.json": stdio("root"),
      "project/a/b/.keep": "",
    });
    const { servers } = await loadConfig({ ...box.options, cwd: box.path("project/a/b") });
    expect(servers.get("it")?.config?.command).toBe("root");
    expect(servers.size).toBe(1);
  });
});

describe("M02 scopes", () => {
  it("lets the whole entry of local win over project over user, and remembers the others", async () => {
    const box = createSandbox({
      "project/.mcp.json": { mcpServers: { it: { command: "project", env: { A: "1" } } } },
      "home/.config/plugboard/config.json": stdio("user"),
    });
    await using workspace = await Workspace.open(box.options);
    await workspace.add("it", { command: "local" }, { scope: "local" });
    const entry = (await workspace.load()).servers.get("it");
    expect(entry?.config).toEqual({ command: "local" });
    expect(entry?.shadowed.map(({ origin }) => origin.scope)).toEqual(["project", "user"]);
  });

  it("refuses names that differ only in case", async () => {
    const box = createSandbox({
      "home/.config/plugboard/config.json": {
        mcpServers: { Files: { command: "a" }, files: { command: "b" } },
      },
    });
    const { servers, diagnostics } = await loadConfig(box.options);
    expect(servers.get("Files")?.status.kind).toBe("ready");
    expect(servers.get("files")?.status).toMatchObject({ kind: "disabled", reason: "invalid" });
    expect(diagnostics[0]?.message).toContain("only in upper/lower case");
  });
});

describe("M03 missing values", () => {
  it("disables only the server whose variable is missing, and names the variable", async () => {
    const box = createSandbox({
      "home/.config/plugboard/config.json": {
        mcpServers: {
          a: { command: "x", env: { K: "${NOT_SET}" } },
          b: { command: "x", args: ["${ALSO_NOT:-fine}"] },
        },
      },
    });
    const { servers } = await loadConfig(box.options);
    expect(servers.get("a")?.status).toMatchObject({
      reason: "missing-value",
      message: "NOT_SET is not set",
    });
    expect(servers.get("b")?.status).toEqual({ kind: "ready" });
  });
});

describe("M06 bundles", () => {
  const load = async (mcpServers: object, bundles: object) => {
    const box = createSandbox({ "home/.config/plugboard/config.json": { mcpServers, bundles } });
    return loadConfig(box.options);
  };

  it("accepts `serverId` and `servers`, and adds no defaults", async () => {
    const { bundles } = await load(
      { a: { command: "a" }, b: { command: "b" } },
      { one: { serverId: "a" }, two: { servers: ["a", "b"], mode: "meta" } },
    );
    expect(bundles.get("one")?.config?.servers).toEqual(["a"]);
    expect(bundles.get("two")?.config).toMatchObject({ servers: ["a", "b"], mode: "meta" });
  });

  it("refuses an empty allow list", async () => {
    const { bundles, diagnostics } = await load(
      { a: { command: "a" } },
      { none: { servers: ["a"], tools: { allow: [] } } },
    );
    expect(bundles.get("none")?.config).toBeUndefined();
    expect(diagnostics[0]).toMatchObject({ bundle: "none", path: "bundles.none.tools.allow", line: 13 });
  });

  it("refuses an untrusted server without an allow list, in a bundle and by itself", async () => {
    const { bundles, servers } = await load(
      {
        wild: { command: "w", untrusted: true },
        tame: { command: "t", untrusted: true, tools: { allow: ["read_*"] } },
      },
      { open: { servers: ["wild"] }, closed: { servers: ["tame"] } },
    );
    expect(bundles.get("open")?.config).toBeUndefined();
    expect(bundles.get("closed")?.config).toBeDefined();
    expect(servers.get("wild")?.status).toMatchObject({ reason: "invalid" });
  });

  it("accepts an untrusted server whose allow list is in a bundle", async () => {
    const { servers, bundles } = await load(
      { wild: { command: "w", untrusted: true } },
      { some: { servers: ["wild"], tools: { allow: ["a"] } } },
    );
    expect(servers.get("wild")?.status.kind).toBe("ready");
    expect(bundles.get("some")?.config).toBeDefined();
  });
});

describe("M07 managed policy", () => {
  const servers = {
    mcpServers: {
      good: { command: "npx", args: ["-y", "good"] },
      web: { url: "https://api.evil.example/mcp" },
    },
  };
  const load = async (policy: object | string, extra: object = {}) => {
    const box = createSandbox({
      "home/.config/plugboard/config.json": servers,
      "managed/managed.json": policy,
    });
    return loadConfig({ ...box.options, ...extra });
  };
  const reasons = ({ servers: all }: Awaited<ReturnType<typeof loadConfig>>) =>
    Object.fromEntries(
      [...all].map(([name, { status }]) => [name, status.kind === "ready" ? "ready" : status.reason]),
    );

  it("denies by name, by exact command and by URL pattern, and beats overrides", async () => {
    expect(reasons(await load({ deniedMcpServers: [{ serverName: "good" }] }))).toEqual({
      good: "policy",
      web: "ready",
    });
    expect(reasons(await load({ deniedMcpServers: [{ serverCommand: ["npx", "-y", "good"] }] }))).toEqual({
      good: "policy",
      web: "ready",
    });
    expect(reasons(await load({ deniedMcpServers: [{ serverUrl: "https://*.evil.example/*" }] }))).toEqual({
      good: "ready",
      web: "policy",
    });
    const overrides = { mcpServers: { good: { command: "other" } } };
    expect(reasons(await load({ deniedMcpServers: [{ serverName: "good" }] }, { overrides }))["good"]).toBe(
      "policy",
    );
  });

  it("cannot be bypassed with another spelling of the URL", async () => {
    const deny = { deniedMcpServers: [{ serverUrl: "https://api.evil.example/*" }] };
    for (const url of [
      "HTTPS://API.EVIL.EXAMPLE/mcp",
      "https://api.evil.example:443/mcp",
      "https://api.evil.example/../mcp",
    ]) {
      expect(reasons(await load(deny, { overrides: { mcpServers: { sly: { url } } } }))["sly"], url).toBe(
        "policy",
      );
    }
  });

  it("cannot be bypassed with lookalike hosts, and a host pattern never matches the path", async () => {
    const allow = (rule: string, url: string) =>
      load({ allowedMcpServers: [{ serverUrl: rule }] }, { overrides: { mcpServers: { it: { url } } } }).then(
        (one) => reasons(one)["it"],
      );
    expect(await allow("https://*.corp.example/*", "https://api.corp.example/mcp")).toBe("ready");
    expect(await allow("https://*.corp.example/*", "https://evil.test/.corp.example/mcp")).toBe("policy");
    expect(await allow("https://api.corp.example*", "https://api.corp.example/mcp")).toBe("ready");
    expect(await allow("http://localhost:*/*", "http://localhost:8080/mcp")).toBe("ready");
    const deny = (url: string) =>
      load(
        { deniedMcpServers: [{ serverUrl: "https://evil.test/*" }] },
        { overrides: { mcpServers: { it: { url } } } },
      ).then((one) => reasons(one)["it"]);
    expect(await deny("https://evil.test./mcp")).toBe("policy");
    expect(await deny("https://EVIL.test:8443/mcp")).toBe("policy");
  });

  it("allows only what is listed, and a command rule makes names insufficient", async () => {
    expect(reasons(await load({ allowedMcpServers: [{ serverName: "good" }] }))).toEqual({
      good: "ready",
      web: "policy",
    });
    const rules = [{ serverName: "good" }, { serverCommand: ["npx", "-y", "other"] }];
    expect(reasons(await load({ allowedMcpServers: rules }))["good"]).toBe("policy");
    expect(reasons(await load({ allowedMcpServers: [] }))).toEqual({ good: "policy", web: "policy" });
  });

  it("can define the only servers that are allowed", async () => {
    const loaded = await load({ mcpServers: { company: { url: "https://mcp.company.example" } } });
    expect(reasons(loaded)).toEqual({ company: "ready", good: "policy", web: "policy" });
    expect(loaded.servers.get("company")?.origin.scope).toBe("managed");
  });

  it("allows nothing if it cannot be read", async () => {
    expect(reasons(await load("{ broken"))).toEqual({ good: "policy", web: "policy" });
    expect(reasons(await load({ deniedMcpServer: [] }))).toEqual({ good: "policy", web: "policy" });
  });
});

describe("M08 plugins", () => {
  it("loads servers from .mcp.json or plugin.json, with PLUGIN_ROOT set", async () => {
    const box = createSandbox({
      "home/.config/plugboard/config.json": { plugins: ["./p1", "p2", "p3"] },
      "home/.config/plugboard/p1/.mcp.json": { mcpServers: { one: { command: "${PLUGIN_ROOT}/run" } } },
      "home/.config/plugboard/p2/plugin.json": {
        name: "two",
        mcpServers: { two: { command: "${CLAUDE_PLUGIN_ROOT}/run" } },
      },
      "home/.config/plugboard/p3/plugin.json": { name: "three", mcpServers: "./servers.json" },
      "home/.config/plugboard/p3/servers.json": { mcpServers: { three: { command: "run" } } },
    });
    const { servers, diagnostics } = await loadConfig(box.options);
    expect(diagnostics).toEqual([]);
    expect([...servers.keys()]).toEqual(["one", "two", "three"]);
    expect(servers.get("two")).toMatchObject({ status: { kind: "ready" }, origin: { scope: "plugin" } });
    expect(servers.get("one")?.variables["PLUGIN_ROOT"]).toBe(box.path("home/.config/plugboard/p1"));
  });

  it("has the lowest precedence of all sources", async () => {
    const box = createSandbox({
      "home/.config/plugboard/config.json": { plugins: ["./p"], mcpServers: { it: { command: "mine" } } },
      "home/.config/plugboard/p/.mcp.json": stdio("plugin"),
    });
    expect((await loadConfig(box.options)).servers.get("it")?.config?.command).toBe("mine");
  });
});

describe("M11 trust", () => {
  it("does not use a project's servers until their exact content is trusted, and asks again after any change", async () => {
    const entry = { command: "run", args: ["a"], env: { K: "v" }, cwd: "x", headersHelper: ["h"] };
    const box = createSandbox({ "project/.mcp.json": { mcpServers: { it: entry } } });
    await using workspace = await Workspace.open(box.options);
    const isReady = async () => (await workspace.load()).servers.get("it")?.status.kind === "ready";
    expect(await isReady()).toBe(false);
    await workspace.trust((await workspace.load()).servers.get("it")!);
    expect(await isReady()).toBe(true);
    const changes = [
      { command: "run2" },
      { args: ["b"] },
      { env: { K: "w" } },
      { cwd: "y" },
      { headersHelper: ["i"] },
      { enabled: true },
      { timeout: 5 },
    ];
    for (const change of changes) {
      box.write("project/.mcp.json", { mcpServers: { it: { ...entry, ...change } } });
      expect(await isReady(), JSON.stringify(change)).toBe(false);
    }
    box.write("project/.mcp.json", { mcpServers: { it: entry } });
    expect(await isReady()).toBe(true);
    await workspace.distrust((await workspace.load()).servers.get("it")!);
    expect(await isReady()).toBe(false);
  });

  it("does not carry trust to another name or another project", async () => {
    const box = createSandbox({
      "project/.mcp.json": stdio("run"),
      "other/.git/HEAD": "",
      "other/.mcp.json": stdio("run"),
    });
    await using workspace = await Workspace.open(box.options);
    await workspace.trust((await workspace.load()).servers.get("it")!);
    box.write("project/.mcp.json", { mcpServers: { it: { command: "run" }, copy: { command: "run" } } });
    expect((await workspace.load()).servers.get("copy")?.status).toMatchObject({ reason: "untrusted" });
    const other = await loadConfig({ ...box.options, cwd: box.path("other") });
    expect(other.servers.get("it")?.status).toMatchObject({ reason: "untrusted" });
  });

  it("ignores a project's settings, bundles and plugins until they are trusted", async () => {
    const box = createSandbox({
      "project/plugboard.json": {
        plugins: ["./evil"],
        store: "./evil.sqlite",
        bundles: { b: { servers: ["x"] } },
      },
      "project/evil/.mcp.json": { mcpServers: { evil: { command: "evil" } } },
    });
    await using workspace = await Workspace.open(box.options);
    const before = await workspace.load();
    expect([before.servers.size, before.bundles.size, before.settings]).toEqual([0, 0, {}]);
    const [waiting] = before.sources.filter(({ untrustedSettings }) => untrustedSettings);
    await workspace.decisions.trustSettings(waiting!.untrustedSettings!, waiting!.file!);
    const after = await workspace.load();
    expect(after.settings.store).toBe("./evil.sqlite");
    expect(after.servers.get("evil")?.status).toMatchObject({ reason: "untrusted" });
  });

  it("cannot be moved by variables that point into the project", async () => {
    const box = createSandbox({
      "project/cfg/plugboard/config.json": stdio("evil"),
      "project/own.json": stdio("evil"),
    });
    const env = {
      ...box.env,
      XDG_CONFIG_HOME: box.path("project/cfg"),
      XDG_STATE_HOME: box.path("project/state"),
    };
    const loaded = await loadConfig({ cwd: box.project, env });
    expect(loaded.servers.size).toBe(0);
    expect(loaded.diagnostics.map(({ message }) => message).join()).toContain(
      "XDG_CONFIG_HOME is ignored because it points into the project",
    );
    const named = await loadConfig({
      cwd: box.project,
      env: { ...box.env, PLUGBOARD_CONFIG: box.path("project/own.json") },
    });
    expect(named.servers.get("it")?.status).toMatchObject({ reason: "untrusted" });
    box.write("project/.env", `XDG_CONFIG_HOME=${box.path("project/cfg")}\nPLUGBOARD_CONFIG=own.json\n`);
    expect((await loadConfig(box.options)).servers.size).toBe(0);
  });

  it("does not follow a project file's link to outside the project", async () => {
    const box = createSandbox({ "outside.json": stdio("evil"), "project/inside.json": stdio("fine") });
    symlinkSync(box.path("outside.json"), box.path("project/.mcp.json"));
    symlinkSync("inside.json", box.path("project/plugboard.json"));
    const { servers, diagnostics } = await loadConfig(box.options);
    expect(servers.get("it")?.config?.command).toBe("fine");
    expect(diagnostics[0]?.message).toContain("symbolic link to a file outside the project");
  });
});

describe("M11 trust is not inferred", () => {
  it("when enabling a server happens to fix a mistake", async () => {
    const box = createSandbox({
      "project/.mcp.json": { mcpServers: { evil: { command: "x", enabled: "no" } } },
    });
    await using workspace = await Workspace.open(box.options);
    await workspace.setEnabled("evil", true);
    expect((await workspace.load()).servers.get("evil")?.status).toMatchObject({ reason: "untrusted" });
  });

  it("for plugins that a project's file names, however that file was found", async () => {
    const box = createSandbox({
      "project/own.json": { plugins: ["./plug"] },
      "project/plug/.mcp.json": {
        mcpServers: { plugged: { command: "x" } },
        bundles: { b: { servers: ["plugged"] } },
      },
    });
    box.env["PLUGBOARD_CONFIG"] = box.path("project/own.json");
    await using workspace = await Workspace.open(box.options);
    const [waiting] = (await workspace.load()).sources.filter(({ untrustedSettings }) => untrustedSettings);
    await workspace.decisions.trustSettings(waiting!.untrustedSettings!, waiting!.file!);
    const loaded = await workspace.load();
    expect(loaded.servers.get("plugged")?.status).toMatchObject({ reason: "untrusted" });
    expect(loaded.bundles.size).toBe(0);
  });
});
