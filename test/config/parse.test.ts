import { describe, expect, it } from "vitest";
import { parseConfig } from "../../src/config.ts";
import { loadConfig } from "../../src/index.ts";
import { createSandbox } from "../sandbox.ts";

const fiveMistakes = `{
  "mcpServers": {
    "one": { "comand": "npx", "args": "not a list" },
    "two": { "url": "htp:/nowhere", "approval": "aproove" },
    "three": { "command": "npx", "startupTimeoutMs": "30s" },
    "good": { "command": "npx", "args": ["-y", "server"] }
  }
}
`;

describe("M04 strict validation", () => {
  it("reports every mistake with file, line, column, path and a suggestion, and loads the good server", async () => {
    const box = createSandbox({ "home/.config/plugboard/config.json": fiveMistakes });
    const { servers, diagnostics } = await loadConfig(box.options);
    expect(diagnostics.map(({ line, path, message }) => [line, path, message])).toEqual([
      [3, "mcpServers.one.args", "expected a list, found a string"],
      [3, "mcpServers.one.comand", "unknown field `comand`"],
      [
        4,
        "mcpServers.two.approval",
        "expected `approve`, `auto`, `prompt`, `deny`, or `{ default, tools, rules }`",
      ],
      [4, "mcpServers.two.url", "`htp:` is not supported"],
      [5, "mcpServers.three.startupTimeoutMs", "expected a number, found a string"],
    ]);
    expect(diagnostics.find(({ path }) => path.endsWith("comand"))).toMatchObject({
      file: box.path("home/.config/plugboard/config.json"),
      column: 14,
      suggestion: "did you mean `command`?",
      server: "one",
    });
    expect(servers.get("good")?.status.kind).toBe("ready");
    for (const name of ["one", "two", "three"])
      expect(servers.get(name)?.status).toMatchObject({ reason: "invalid" });
  });

  it.each([
    ["toml", '[mcpServers.one]\ncomand = "npx"\n', 2],
    ["yaml", "mcpServers:\n  one:\n    comand: npx\n", 3],
  ] as const)("knows the line in %s too", async (syntax, text, line) => {
    const { diagnostics } = await parseConfig(text, { syntax, file: `config.${syntax}` });
    expect(diagnostics).toMatchObject([{ line, path: "mcpServers.one.comand", file: `config.${syntax}` }]);
  });

  it("names the place where a file cannot be parsed, and reads the other files", async () => {
    const box = createSandbox({
      "home/.config/plugboard/config.json": '{\n  "mcpServers": {\n',
      "home/.config/plugboard/config.yaml": "mcpServers: { b: { command: b } }\n",
    });
    const { servers, diagnostics } = await loadConfig(box.options);
    expect(diagnostics[0]).toMatchObject({
      severity: "error",
      file: box.path("home/.config/plugboard/config.json"),
      line: 3,
    });
    expect([...servers.keys()]).toEqual(["b"]);
  });

  const oneMistake: [string, object, string][] = [
    ["neither a command nor a URL", {}, "`command` or `url` is missing"],
    ["both of them", { command: "a", url: "https://a.example" }, "cannot be used together"],
    ["a type that does not fit", { type: "http", command: "a" }, "needs `url`"],
    [
      "a type that does not exist",
      { type: "ws", url: "wss://a.example" },
      "expected `stdio` or `http` or `sse`",
    ],
    ["arguments inside the command", { command: "npx -y server" }, "its arguments go in `args`"],
    [
      "a password in the URL",
      { url: "https://me:secret@a.example" },
      "must not contain a user name or password",
    ],
    ["an empty allow list", { command: "a", tools: { allow: [] } }, "an empty `allow` list"],
    ["a header that would be two", { url: "https://a.example", headers: { A: "x\r\nB: y" } }, "line break"],
    [
      "a header name with a space",
      { url: "https://a.example", headers: { "A B": "x" } },
      "valid header name",
    ],
    ["a maximum below the normal", { command: "a", callTimeoutMs: 9, maxCallTimeoutMs: 3 }, "smaller than"],
    ["a variable name with =", { command: "a", env: { "A=B": "x" } }, "not a valid variable name"],
    ["a nested field", { command: "a", tools: { alow: ["x"] } }, "unknown field `alow`"],
    ["a negative time", { command: "a", callTimeoutMs: -1 }, "must be at least 1"],
  ];
  it.each(oneMistake)("reports exactly one mistake for %s", async (_, server, message) => {
    const { diagnostics, servers } = await parseConfig({ mcpServers: { it: server } });
    expect(diagnostics.map((one) => one.message).join("|")).toContain(message);
    expect(diagnostics.filter(({ severity }) => severity === "error")).toHaveLength(
      message.includes("expected `stdio`") ? 2 : 1,
    );
    expect(servers[0]?.config).toBeUndefined();
  });

  it("never repeats a configured value", async () => {
    const secret = "hunter2-canary";
    const { diagnostics } = await parseConfig({
      mcpServers: {
        a: { command: 5, env: secret, headers: [secret] },
        b: { url: `https://user:${secret}@x.example`, bearerTokenEnv: { [secret]: 1 } },
        c: { url: "https://x.example", headers: { Authorization: `${secret}\n` } },
      },
    });
    expect(diagnostics.length).toBeGreaterThan(3);
    expect(JSON.stringify(diagnostics)).not.toContain(secret);
  });

  it("refuses a duplicate key, for that server only", async () => {
    const text = '{ "mcpServers": { "a": { "command": "x", "command": "y" }, "b": { "command": "z" } } }';
    const { servers, diagnostics } = await parseConfig(text);
    expect(diagnostics).toMatchObject([{ message: "duplicate key `command`", server: "a" }]);
    expect(servers.map(({ name, config }) => [name, config?.command])).toEqual([
      ["a", undefined],
      ["b", "z"],
    ]);
  });
});

describe("M05 one entry covers what people already write", () => {
  it("understands the spellings of a shared .mcp.json", async () => {
    const { servers, diagnostics } = await parseConfig({
      mcpServers: {
        a: { type: "streamable-http", url: "https://a.example", disabled: true, timeout: 5000 },
        b: { type: "local", command: "b", "x-note": 1, _comment: "hello" },
        c: { type: "remote", url: "https://c.example", oauth: { scopes: "read write" }, alwaysAllow: ["x"] },
        d: { command: "d", env: { PORT: 8080, DEBUG: true } },
      },
    });
    expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
    expect(servers.map(({ config }) => config)).toMatchObject([
      { type: "http", enabled: false, callTimeoutMs: 5000 },
      { type: "stdio", command: "b" },
      { type: "http", oauth: { scopes: ["read", "write"] } },
      { env: { PORT: "8080", DEBUG: "true" } },
    ]);
    expect(diagnostics).toMatchObject([{ severity: "warning", path: "mcpServers.c.alwaysAllow" }]);
  });

  it("accepts __proto__ and constructor as ordinary names", async () => {
    const text =
      '{ "mcpServers": { "__proto__": { "command": "x" }, "constructor": { "command": "y", "__proto__": 1 } } }';
    const { servers } = await parseConfig(text);
    expect(servers.map(({ name }) => name)).toEqual(["__proto__", "constructor"]);
    expect(servers[1]?.diagnostics[0]?.message).toContain("unknown field `__proto__`");
    expect(({} as Record<string, unknown>)["command"]).toBeUndefined();
  });
});
