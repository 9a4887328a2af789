import { describe, expect, it } from "vitest";
import { expandServer, formatById, parseConfig, readForeignFile } from "../../src/config.ts";
import { createHub, loadConfig } from "../../src/index.ts";
import { referencesIn } from "../../src/config/template.ts";
import { createSandbox } from "../sandbox.ts";
import { growth } from "../processor-time.ts";

const good = { command: "true" };

/** Loads a project's file and says for each server whether it has a configuration that could be used. */
async function usable(name: string, text: string | object) {
  const box = createSandbox({ [`project/${name}`]: text });
  const { servers, diagnostics } = await loadConfig(box.options);
  const names = [...servers.values()].flatMap((entry) => (entry.config ? [entry.name] : []));
  return { names, diagnostics, servers };
}

function nested(levels: number): unknown {
  let value: unknown = "end";
  for (let level = 0; level < levels; level++) value = { in: value };
  return value;
}

describe("M11 references in a hostile text", () => {
  it.each([
    ["opened and never closed", (size: number) => "${".repeat(size)],
    ["opened in each other and closed", (size: number) => "${".repeat(size) + "}".repeat(size)],
    ["in each other's defaults", (size: number) => "${A:-".repeat(size) + "}".repeat(size)],
    ["one after the other", (size: number) => "${A:-x}".repeat(size)],
    ["escaped", (size: number) => "$${".repeat(size)],
  ])("cost time in proportion to its length: %s", async (_, text) => {
    const [small, large] = [text(5_000), text(160_000)];
    // For 32 times the length, 32 is linear and 1,024 quadratic.
    const times = await growth(
      () => referencesIn(small),
      () => referencesIn(large),
      { enough: 64 },
    );
    expect(times).toBeLessThan(256);
  });

  it("set aside the server whose references stand too deep in each other, and no other", async () => {
    const deep = "${A:-".repeat(8_000) + "}".repeat(8_000);
    const file = { mcpServers: { deep: { command: "x", env: { A: deep } }, good } };
    const { names, diagnostics, servers } = await usable(".mcp.json", file);
    expect(names).toEqual(["good"]);
    expect(servers.get("deep")?.status).toMatchObject({ reason: "invalid" });
    expect(diagnostics).toMatchObject([
      { server: "deep", path: "mcpServers.deep.env.A", message: "`${…}` stands in more than 16 others" },
    ]);
  });

  it("say once for each value that its references are never closed", async () => {
    const open = "${".repeat(60_000);
    const args = [open, "$${literal", "${CLOSED:-x}", "{plain"];
    const file = { mcpServers: { open: { command: "x", args, env: { A: "${TOKEN" } }, good } };
    const { diagnostics } = await usable(".mcp.json", file);
    const message = "a `${` is never closed, so it is passed on as it is written";
    expect(diagnostics).toMatchObject([
      { severity: "warning", path: "mcpServers.open.args[0]", message, line: 6 },
      { severity: "warning", path: "mcpServers.open.env.A", message },
    ]);
  });

  it.each([
    ["an unknown field", { command: "x", ["k".repeat(400_000)]: 1 }],
    ["a command with arguments in it", { command: "word ".repeat(80_000) }],
    ["an unknown scheme", { url: `${"a".repeat(400_000)}:x` }],
  ])("are not repeated at full length in a mistake: %s", async (_, it) => {
    const { diagnostics } = await usable(".mcp.json", { mcpServers: { it } });
    expect(diagnostics).toHaveLength(1);
    expect(JSON.stringify(diagnostics).length).toBeLessThan(2_000);
  });

  it("read defaults in each other up to the limit", async () => {
    const text = `${"${A:-".repeat(16)}end${"}".repeat(16)}`;
    const { servers } = await usable(".mcp.json", { mcpServers: { good: { command: text } } });
    const entry = servers.get("good");
    const sources = { env: {}, secrets: async () => undefined, home: "/" };
    expect((entry && (await expandServer(entry, sources)))?.config.command).toBe("end");
  });

  it("never mean what every object inherits", async () => {
    const names = ["constructor", "toString", "__proto__", "hasOwnProperty"];
    const overrides = {
      mcpServers: Object.fromEntries(names.map((name) => [`s-${name}`, { command: `\${${name}}` }])),
    };
    const { servers } = await loadConfig({ ...createSandbox().options, env: process.env, overrides });
    for (const name of names)
      expect(servers.get(`s-${name}`)?.status).toMatchObject({
        reason: "missing-value",
        message: `${name} is not set`,
      });
  });
});

describe("M11 one hostile part of a file", () => {
  it("that cannot be checked is that server's own mistake", async () => {
    const overrides = {
      mcpServers: {
        throwing: {
          get command(): string {
            throw new TypeError("a getter of the program");
          },
        },
        good,
      },
    };
    const { servers, diagnostics } = await loadConfig({ ...createSandbox().options, overrides });
    expect(servers.get("good")?.status).toEqual({ kind: "ready" });
    expect(servers.get("throwing")?.status).toMatchObject({ reason: "invalid" });
    expect(diagnostics).toMatchObject([
      { server: "throwing", message: "this cannot be checked (TypeError)", severity: "error" },
    ]);
  });

  it("that is nested without end, or refers to itself, is set aside with a reason", async () => {
    const circle: Record<string, unknown> = { command: "x" };
    circle["env"] = circle;
    const deep = { url: "https://a.example/mcp", oauth: nested(20_000) };
    const bundles = { deep: nested(20_000) };
    const settings = { chat: nested(20_000) };
    const overrides = { mcpServers: { circle, deep, good }, bundles, ...settings };
    const config = await loadConfig({ ...createSandbox().options, overrides });
    await using hub = await createHub(config, { lostRules: "ignore" });
    const states = hub.status().map(({ name, state }) => [name, state]);
    expect(states).toEqual([
      ["circle", "disabled"],
      ["deep", "disabled"],
      ["good", "ready"],
    ]);
    const messages = config.diagnostics.map(({ path, message }) => `${path}: ${message}`);
    await expect(createHub(overrides as never)).rejects.toThrow("mcpServers.circle: nested deeper");
    expect(messages.sort()).toEqual(
      ["bundles.deep", "chat", "mcpServers.circle", "mcpServers.deep"].map(
        (path) => `${path}: nested deeper than 64 levels`,
      ),
    );
  });

  it("may have names that every object has", async () => {
    const names = ["constructor", "toString", "__proto__", "hasOwnProperty"];
    const member = (name: string) =>
      `"${name}": { "command": "x", "env": { "${name.replaceAll("_", "")}": "1" } }`;
    const text = `{ "mcpServers": { ${names.map(member).join(", ")} }, "bundles": { ${names
      .map((name) => `"${name}": { "servers": ["${name}"] }`)
      .join(", ")} }, "profiles": { "toString": "work" } }`;
    const box = createSandbox();
    const path = box.write("named.json", text);
    const { servers, bundles, diagnostics, settings } = await loadConfig({ ...box.options, path });
    expect(diagnostics).toEqual([]);
    expect([...servers.values()].map(({ name, status }) => [name, status.kind])).toEqual(
      names.map((name) => [name, "ready"]),
    );
    expect([...bundles.keys()]).toEqual(names);
    expect(settings.profiles).toEqual({ toString: "work" });
    const literal = JSON.parse(text) as { mcpServers: object };
    await using hub = await createHub({ servers: literal.mcpServers } as never);
    expect(hub.status().map(({ name, state }) => [name, state])).toEqual(
      names.map((name) => [name, "ready"]),
    );
  });

  it("loses no rule to a name that cannot be kept: it is a mistake, and the rule's server is not used", async () => {
    const approval = '{ "default": "approve", "tools": { "__proto__": "deny" } }';
    const { names, diagnostics } = await usable(
      ".mcp.json",
      `{ "mcpServers": { "one": { "command": "x", "approval": ${approval} }, "two": { "command": "y", "env": { "__proto__": "1" } }, "good": { "command": "z" } } }`,
    );
    expect(names).toEqual(["good"]);
    expect(diagnostics.map(({ path, message }) => [path, message])).toEqual([
      ["mcpServers.one.approval.tools.__proto__", "`__proto__` cannot be a name here"],
      ["mcpServers.two.env.__proto__", "`__proto__` cannot be a name here"],
    ]);
    const both = await usable(
      ".mcp.json",
      `{ "mcpServers": { "one": { "command": "x", "approval": ${approval.replace("approve", "no")} } } }`,
    );
    expect(both.diagnostics.map(({ path }) => path)).toEqual([
      "mcpServers.one.approval.default",
      "mcpServers.one.approval.tools.__proto__",
    ]);
    const box = createSandbox({
      "home/.config/plugboard/config.json": `{ "mcpServers": { "one": { "command": "x" } }, "approval": ${approval} }`,
    });
    const { settings } = await loadConfig(box.options);
    expect(settings.approval).toBe("deny");
    const managed = createSandbox({
      "home/.config/plugboard/config.json": { mcpServers: { one: { command: "x" } } },
      "managed/managed.json": `{ "approval": ${approval} }`,
    });
    const { servers } = await loadConfig(managed.options);
    expect(servers.get("one")?.status).toMatchObject({ reason: "policy" });
  });

  it("with a duplicate key is set aside in every notation", async () => {
    const yaml = "mcpServers:\n  twice:\n    command: a\n  good:\n    command: b\n  twice:\n    command: c\n";
    const { names, diagnostics } = await usable("plugboard.yaml", yaml);
    expect(names).toEqual(["good"]);
    expect(diagnostics).toMatchObject([{ message: "duplicate key `twice`", server: "twice", line: 6 }]);
  });

  it("with fifty thousand mistakes reports fifty of them, and how many more there are", async () => {
    const args = Array.from({ length: 50_000 }, () => 1);
    const { diagnostics } = await usable(".mcp.json", { mcpServers: { bad: { command: "x", args }, good } });
    expect(diagnostics).toHaveLength(51);
    expect(diagnostics.at(-1)).toMatchObject({
      server: "bad",
      message: "there are 49,950 more mistakes here",
    });
  });

  it("that is not JSON at all reports a hundred mistakes", async () => {
    const { diagnostics } = await parseConfig(`{${"x ".repeat(100_000)}`);
    expect(diagnostics).toHaveLength(101);
    expect(diagnostics.at(-1)?.message).toMatch(/^there are [\d,]+ more mistakes after this$/);
  });

  it("whose aliases repeat too much of it is set aside, and other files are used", async () => {
    const long = "x".repeat(9_000);
    const yaml = `mcpServers:\n  big:\n    command: &long ${long}\n    args: [${Array(90).fill("*long").join(", ")}]\n`;
    const box = createSandbox({
      "project/plugboard.yaml": yaml,
      "home/.config/plugboard/config.json": { mcpServers: { good } },
    });
    const { servers, diagnostics } = await loadConfig(box.options);
    expect([...servers.keys()]).toEqual(["good"]);
    expect(diagnostics).toMatchObject([{ message: "aliases (`*name`) repeat too much of the document" }]);
  });
});

describe("M10 a hostile file of another client", () => {
  it("is reported, and the others are imported", async () => {
    const levels = 20_000;
    const inside = (open: string, close: string) => open.repeat(levels) + close.repeat(levels);
    const box = createSandbox({
      "home/.cursor/mcp.json": `{ "mcpServers": { "a": ${inside('{"a":', "}")} } }`,
      "home/.codex/config.toml": `mcp_servers = ${inside("[", "]")}\n`,
      "home/.config/goose/config.yaml": `extensions: ${inside("[", "]")}\n`,
      "home/.gemini/settings.json": { mcpServers: { good: { command: "true" } } },
    });
    const { out, code } = await box.cli(["import", "cursor", "codex", "goose", "gemini", "--yes"]);
    expect(out.match(/nested deeper than 64 levels/g)).toHaveLength(3);
    expect([...(await loadConfig(box.options)).servers.keys()]).toEqual(["good"]);
    expect(code).toBe(3);
  });

  it("that its reader did not foresee is that file's problem", async () => {
    const box = createSandbox({ "home/mcp.json": "{}" });
    const read = () => {
      throw new TypeError("unforeseen");
    };
    const file = { path: box.path("home/mcp.json"), scope: "user" as const };
    const found = await readForeignFile({ ...formatById("cursor"), read }, file, {
      projectRoot: box.project,
      home: box.home,
    });
    expect(found).toMatchObject({ problem: "this cannot be checked (TypeError)" });
  });
});

describe("M11 a hostile URL of an untrusted project", () => {
  it.each(["@", "a@", "/@", "a.@"])(
    "costs time in proportion to its length: %s, many times",
    async (part) => {
      const list = (count: number) => {
        const url = `http://host.test/?${part.repeat(count)}`;
        const box = createSandbox({ "project/.mcp.json": { mcpServers: { it: { url } } } });
        return async () => expect((await box.cli(["list"])).out).toContain("host.test");
      };
      expect(await growth(list(8_000), list(64_000), { enough: 12 })).toBeLessThan(24);
    },
  );
});
