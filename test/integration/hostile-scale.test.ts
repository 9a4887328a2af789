import { describe, expect, it } from "vitest";
import { createHub, loadConfig } from "../../src/index.ts";
import { ListServer, named } from "../catalog/list-server.ts";
import { growth } from "../processor-time.ts";
import { firstOf } from "../rounds.ts";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";

const userFile = "home/.config/plugboard/config.json";

/** A file with that many servers, below the limit of 1 MB even for 8,000. */
function servers(count: number): string {
  const entry = (at: number) => ({ command: "node", args: [`\${HOME}/${at}.js`] });
  const entries = Array.from({ length: count }, (_, at) => [`server-${at}`, entry(at)] as const);
  return JSON.stringify({ mcpServers: Object.fromEntries(entries) });
}

/** For eight times the servers, 8 is linear and 64 quadratic. */
const limit = 32;

async function expectLinear(prepare: (box: Sandbox, count: number) => void, args: string[]): Promise<void> {
  const run = (count: number) => {
    const box = createSandbox();
    prepare(box, count);
    return () => box.cli(args);
  };
  const times = await growth(run(1_000), run(8_000), { enough: 20, runs: 8 });
  expect(times).toBeLessThan(limit);
}

describe("M11 a project with 8,000 servers", () => {
  const commands: [string[]][] = [
    [["list"]],
    [["status"]],
    [["doctor"]],
    [["list", "--json"]],
    [["get", "server-7"]],
    [["explain", "server-7"]],
    [["config", "show"]],
    [["config", "validate"]],
    [["tools"]],
    [["trust", "--list"]],
    [["completion", "words", "--", "call", "x"]],
    [["export", "codex"]],
  ];
  it.each(firstOf(3, commands))("costs time in proportion: plugboard %j", (args) =>
    expectLinear((box, count) => box.write("project/.mcp.json", servers(count)), args),
  );
});

describe("M01 a user with 8,000 servers", () => {
  const commands: [string[]][] = [
    [["add", "one-more", "--scope", "user", "--", "true"]],
    [["completion", "words", "--", "call", "server-7"]],
    [["completion", "words", "--", "get", "server-7"]],
    [["disable", "server-7"]],
    [["remove", "server-9"]],
  ];
  it.each(firstOf(2, commands))("waits in proportion: plugboard %j", (args) =>
    expectLinear((box, count) => box.write(userFile, servers(count)), args),
  );

  it("imports in proportion", () =>
    expectLinear(
      (box, count) => box.write("home/.cursor/mcp.json", servers(count)),
      ["import", "cursor", "--dry-run"],
    ));
});

describe("M01 a file of any notation with 8,000 parts", () => {
  const parts = (count: number) => Array.from({ length: count }, (_, at) => at);
  const object = (count: number, entry: (at: number) => string) =>
    `{"mcpServers":{${parts(count).map(entry).join(",\n")}}}`;
  const shapes: [string, string, (count: number) => string][] = [
    [
      "YAML",
      "yaml",
      (count) =>
        `mcpServers:\n${parts(count)
          .map((at) => `  s${at}:\n    command: x\n`)
          .join("")}`,
    ],
    [
      "TOML tables",
      "toml",
      (count) =>
        parts(count)
          .map((at) => `[mcpServers.s${at}]\ncommand = "x"\n`)
          .join(""),
    ],
    [
      "TOML keys",
      "toml",
      (count) =>
        parts(count)
          .map((at) => `mcpServers.s${at}.command = "x"\n`)
          .join(""),
    ],
    ["mistakes", "json", (count) => object(count, (at) => `"s${at}":{"comand":"x","env":3}`)],
    ["duplicates", "json", (count) => object(count, (at) => `"s${at >> 1}":{"command":"x"}`)],
    [
      "names that differ in case",
      "json",
      (count) => object(count, (at) => `"${at % 2 ? "S" : "s"}${at >> 1}":{"command":"x"}`),
    ],
    [
      "untrusted servers in bundles",
      "json",
      (count) => {
        const servers = parts(count).map((at) => `"s${at}":{"command":"x","untrusted":true}`);
        const bundles = parts(count / 2).map(
          (at) => `"b${at}":{"servers":["s${at}"],"tools":{"allow":["a"]}}`,
        );
        return `{"mcpServers":{${servers.join()}},"bundles":{${bundles.join()}}}`;
      },
    ],
    [
      "unknown fields of one server",
      "json",
      (count) =>
        `{"mcpServers":{"s":{${parts(count)
          .map((at) => `"f${at}":1`)
          .join()}}}}`,
    ],
    [
      "unknown settings",
      "json",
      (count) =>
        `{${parts(count)
          .map((at) => `"f${at}":1`)
          .join()}}`,
    ],
  ];
  it.each(shapes)("costs time in proportion: %s", async (_, extension, text) => {
    const load = (count: number) => {
      const box = createSandbox();
      const path = box.write(`named.${extension}`, text(count));
      return () => loadConfig({ ...box.options, path });
    };
    expect(await growth(load(1_000), load(8_000), { enough: 12, runs: 4 })).toBeLessThan(limit);
  });
});

describe("M51 a server with 8,000 tools and prompts", () => {
  it("costs time in proportion", async () => {
    const list = (count: number) => async () => {
      const server = new ListServer();
      server.tools = named(...Array.from({ length: count }, (_, at) => `tool-${at}`));
      server.prompts = Array.from({ length: count }, (_, at) => ({ name: `prompt-${at}` }));
      await using hub = await createHub({ servers: { it: server.entry } });
      expect(await hub.tools()).toHaveLength(count);
      expect(await hub.commands()).toHaveLength(count);
      await hub.findTool(`it.tool-${count - 1}`);
    };
    expect(await growth(list(1_000), list(8_000), { enough: 12, runs: 4 })).toBeLessThan(limit);
  });
});
