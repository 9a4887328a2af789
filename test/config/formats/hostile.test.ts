import { describe, expect, it } from "vitest";
import { planImport } from "../../../src/config/import.ts";
import { compareDocument } from "../../../src/config/sync/plan.ts";
import { loadConfig } from "../../../src/index.ts";
import { growth } from "../../processor-time.ts";
import { createSandbox } from "../../sandbox.ts";
import { cases } from "./cases/index.ts";
import { context, formatOf } from "./read-fixture.ts";

const openings = ["${", "$${", "${A:-", "{file:", "{env:", "%A", "$env:", "${{ secrets.", "$(", "--"];

describe("M10 another client's hostile file", () => {
  it.each(["claude-code", "vscode", "opencode", "gemini", "continue", "mcporter", "crush", "pi", "manifest"])(
    "costs time in proportion to its length: variables of %s",
    async (id) => {
      const { document, entry } = cases.find((one) => one.id === id)!;
      const read = (size: number) => {
        for (const opening of openings) {
          const text = opening.repeat(size);
          const words = Array.isArray(entry["command"]) ? { command: ["x", text] } : { args: [text] };
          formatOf(id).read(document({ ...entry, name: "a", alias: "a", ...words }), context());
        }
      };
      // For 32 times the length, 32 is linear and 1,024 quadratic.
      expect(
        await growth(
          () => read(1_000),
          () => read(32_000),
          { enough: 64 },
        ),
      ).toBeLessThan(256);
    },
  );

  it.each([
    ["cline", (size: number) => ({ command: "x", autoApprove: numbers(size) })],
    ["codex", (size: number) => ({ command: "x", tools: modes(size) })],
    [
      "claude-desktop",
      (size: number) => ({
        command: "npx",
        args: [
          "mcp-remote",
          "https://a.example/mcp",
          ...numbers(size).flatMap((name) => ["--ignore-tool", name]),
        ],
      }),
    ],
  ])("costs time in proportion to its length: lists of %s", async (id, entry) => {
    const { document } = cases.find((one) => one.id === id)!;
    const read = (size: number) => formatOf(id).read(document(entry(size)), context());
    expect(
      await growth(
        () => read(1_000),
        () => read(8_000),
        { enough: 16 },
      ),
    ).toBeLessThan(32);
  });

  it("costs time in proportion to the number of its servers", async () => {
    const config = await loadConfig(createSandbox().options);
    const plan = (size: number) => {
      const servers = numbers(size).map((name) => [name, { command: name }] as const);
      const imported = formatOf("cursor").read({ mcpServers: Object.fromEntries(servers) }, context());
      const file = { format: formatOf("cursor"), file: "/some/file", scope: "user" as const, imported };
      expect(planImport([file], config)).toHaveLength(size);
    };
    expect(
      await growth(
        () => plan(1_000),
        () => plan(8_000),
        { enough: 16 },
      ),
    ).toBeLessThan(32);
  });

  it("is compared in time in proportion to its length, however odd an entry is", async () => {
    const cursor = formatOf("cursor");
    const format = { ...cursor, merging: cursor.merging! };
    const url = "https://a.example/mcp";
    const ours = [{ name: "a", config: { command: "x", args: ["ours"] } }];
    const compare = (size: number) => {
      const odd = Object.fromEntries(numbers(size).map((name) => [name, name]));
      for (const entry of [
        { ...odd, url },
        { url, headers: odd },
        { command: "y", env: odd },
      ]) {
        const options = { context: context(), known: new Set(["a"]) };
        const [server] = compareDocument(format, { mcpServers: { a: entry } }, ours, options).servers;
        expect(server?.state).toBe("different");
      }
    };
    expect(
      await growth(
        () => compare(1_000),
        () => compare(8_000),
        { enough: 16 },
      ),
    ).toBeLessThan(32);
  });

  it("gives every imported server a name of its own", async () => {
    const names = ["a b", "a  b", "a/b", "a-b", "A b", "-".repeat(300), `a${"-".repeat(100_000)}x`];
    const servers = Object.fromEntries(names.map((name, index) => [name, { command: `x${index}` }]));
    const imported = formatOf("cursor").read({ mcpServers: servers }, context());
    const config = await loadConfig(createSandbox().options);
    const file = { format: formatOf("cursor"), file: "/some/file", scope: "user" as const, imported };
    const planned = planImport([file], config).map(({ name }) => name);
    expect(new Set(planned.map((name) => name.toLowerCase())).size).toBe(names.length);
    expect(planned.filter((name) => !/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(name))).toEqual([]);
  });
});

function numbers(size: number): string[] {
  return Array.from({ length: size }, (_, index) => `n${index}`);
}

function modes(size: number): Record<string, { approval_mode: string }> {
  return Object.fromEntries(numbers(size).map((name) => [name, { approval_mode: "approve" }]));
}
