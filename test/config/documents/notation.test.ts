import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  findSpan,
  formatPath,
  notation,
  parseDocument,
  positionAt,
} from "../../../src/config/documents/document.ts";
import type { SyntaxName } from "../../../src/config/documents/document.ts";

const texts: Record<SyntaxName, string> = {
  json: `// who we talk to
{
  "$schema": "./config.schema.json", // for the editor
  "mcpServers": {
    // files of mine
    "files": {
      "command": "npx", // from npm
      "args": ["-y", "server-filesystem"] /* two */
    },
    "issues": { "url": "https://issues.example/mcp" } // remote
  },
  "other": [1, 2, 3]
}
`,
  toml: `# who we talk to
contextTokens = 200000 # plenty

[mcpServers.files] # files of mine
command = "npx" # from npm
args = ["-y", "server-filesystem"]

[mcpServers.files.env]
A = "1"

# remote
[mcpServers.issues]
url = "https://issues.example/mcp"

[output]
maxTokens = 5
`,
  yaml: `# who we talk to
contextTokens: 200000 # plenty
mcpServers:
  # files of mine
  files:
    command: npx # from npm
    args: [-y, server-filesystem]
  # remote
  issues:
    url: https://issues.example/mcp # a comment

# the rest
output:
  maxTokens: 5
`,
};

const comments = /(^| )(#|\/\/|\/\*) .*$/gm;

describe.each(["json", "toml", "yaml"] as const)("M04 %s keeps what it does not change", (syntax) => {
  const text = texts[syntax];
  const valueOf = async (source: string) => {
    const { value, problems } = await parseDocument(source, syntax);
    expect(problems).toEqual([]);
    return JSON.parse(JSON.stringify(value)) as Record<string, Record<string, unknown>>;
  };

  it("adds a server after the others, with every comment and line still there", async () => {
    const { set } = await notation(syntax);
    const server = { command: "uvx", args: ["time", "--zone=UTC"], env: { KEY: "${KEY}" } };
    const after = set(text, ["mcpServers", "time"], server);
    const before = await valueOf(text);
    expect(await valueOf(after)).toEqual({
      ...before,
      mcpServers: { ...before["mcpServers"], time: server },
    });
    for (const comment of text.match(comments) ?? []) expect(after).toContain(comment);
    expect(Object.keys((await valueOf(after))["mcpServers"] ?? {})).toEqual(["files", "issues", "time"]);
  });

  it("removes a server and nothing else", async () => {
    const { remove } = await notation(syntax);
    for (const name of ["files", "issues"]) {
      const after = remove(text, ["mcpServers", name]);
      const before = await valueOf(text);
      delete before["mcpServers"]?.[name];
      expect(await valueOf(after)).toEqual(before);
      expect(after).toContain("who we talk to");
    }
  });

  it("changes a single field in place", async () => {
    const { set } = await notation(syntax);
    const off = set(text, ["mcpServers", "issues", "enabled"], false);
    expect((await valueOf(off))["mcpServers"]?.["issues"]).toEqual({
      url: "https://issues.example/mcp",
      enabled: false,
    });
    const on = set(off, ["mcpServers", "issues", "enabled"], true);
    expect((await valueOf(on))["mcpServers"]?.["issues"]).toEqual({
      url: "https://issues.example/mcp",
      enabled: true,
    });
    for (const comment of text.match(comments) ?? []) expect(on).toContain(comment);
  });

  it("creates the section and the file when they are missing", async () => {
    const { set, remove } = await notation(syntax);
    const created = set("", ["mcpServers", "a b"], { url: "https://a.example" });
    expect(await valueOf(created)).toEqual({ mcpServers: { "a b": { url: "https://a.example" } } });
    const emptied = remove(created, ["mcpServers", "a b"]);
    expect((await valueOf(emptied))["mcpServers"] ?? {}).toEqual({});
  });

  it("knows the line of a field", async () => {
    const document = await parseDocument(text, syntax);
    const span = findSpan(document, ["mcpServers", "issues", "url"]);
    const line = text.split("\n")[positionAt(text, span?.start ?? 0).line - 1];
    expect(line).toContain("issues.example");
  });

  it("survives any sequence of additions and removals without losing a comment or another server", async () => {
    const { set, remove } = await notation(syntax);
    const name = fc
      .string({ minLength: 1, maxLength: 12, unit: "grapheme-ascii" })
      .filter((it) => it !== "__proto__");
    const step = fc.record({ name, value: fc.option(fc.record({ command: fc.string({ minLength: 1 }) })) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
        let current = text;
        const expected = new Map(Object.entries((await valueOf(text))["mcpServers"] ?? {}));
        for (const { name: server, value } of steps) {
          const path = ["mcpServers", server];
          current = value
            ? set(current, path, value)
            : expected.has(server)
              ? remove(current, path)
              : current;
          if (value) expected.set(server, value);
          else expected.delete(server);
        }
        const after = await valueOf(current);
        expect(after["mcpServers"]).toEqual(Object.fromEntries(expected));
        expect(current).toContain("who we talk to");
      }),
      { numRuns: 60 },
    );
  });
});

describe("M04 lists of servers", () => {
  const lists: [SyntaxName, string][] = [
    ["toml", ""],
    ["toml", "servers = [] # none\n"],
    ["toml", 'servers = [{ name = "a" }, { name = "b" }]\n'],
    [
      "toml",
      '[[servers]] # one\nname = "a"\n\n[servers.env]\nX = "1"\n\n[[servers]]\nname = "b"\n\n[tui]\nx = 1',
    ],
    ["yaml", ""],
    ["yaml", "servers:\nother: 1 # one\n"],
    ["yaml", "servers: [] # none\n"],
    ["yaml", "servers: [{ name: a }, { name: b }]\n"],
    [
      "yaml",
      "servers:\n- name: a # one\n\n# before b\n- name: b\n  env:\n    X: 1\n\n# the rest\nother: 1\n",
    ],
    ["yaml", "servers:\n  - name: a"],
  ];

  it.each(lists)("%s adds items, changes them and removes each of them: %j", async (syntax, text) => {
    const { set, remove, parse } = await notation(syntax);
    const valueOf = (source: string) =>
      JSON.parse(JSON.stringify(parse(source).value)) as { servers?: unknown[] };
    const before = valueOf(text);
    const items = before.servers ?? [];
    const item = { name: "new", args: ["x y"], env: { A: "1" } };
    const added = set(text, ["servers", items.length], item);
    expect(valueOf(added)).toEqual({ ...before, servers: [...items, item] });
    for (const comment of text.match(comments) ?? []) expect(added).toContain(comment);
    for (const index of [...items, item].keys()) {
      const kept = [...items, item].filter((_, other) => other !== index);
      expect(valueOf(remove(added, ["servers", index])).servers ?? []).toEqual(kept);
    }
    if (added.includes("[{")) return;
    const path = ["servers", 0, "limits"];
    const [first, ...rest] = [...items, item] as Record<string, unknown>[];
    expect(valueOf(set(added, path, { most: 3 })).servers).toEqual([
      { ...first, limits: { most: 3 } },
      ...rest,
    ]);
  });
});

describe("M04 TOML with dotted keys", () => {
  it("adds a field to a server that has no table header", async () => {
    const { set, parse } = await notation("toml");
    const top = 'servers.a.command = "x" # why\nservers.b.command = "y"\n\n[other]\nkey = 1\n';
    const changed = set(top, ["servers", "a", "args"], ["z"]);
    expect(changed).toBe(top.replace("# why\n", '# why\nservers.a.args = ["z"]\n'));
    expect(parse(changed).value).toMatchObject({ servers: { a: { command: "x", args: ["z"] } } });
    const below = '[servers]\na.command = "x"';
    expect(set(below, ["servers", "a", "args"], ["z"])).toBe(`${below}\na.args = ["z"]`);
  });
});

describe("M04 broken and hostile documents", () => {
  it.each([
    ["json", '{ "a": 1', "a closing } is missing"],
    ["json", '{ "a" 1 }', "a colon is missing before this"],
    ["json", "{ a: 1 }", '"quotes"'],
    ["toml", "a = \n", ""],
    ["yaml", "a: [1, 2", ""],
  ] as const)("%s names the place of a mistake in %j", async (syntax, text, message) => {
    const { problems } = await parseDocument(text, syntax);
    expect(problems.length).toBeGreaterThan(0);
    expect(problems[0]?.message).toContain(message);
  });

  it.each([
    ["json", "[".repeat(400_000)],
    ["json", `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`],
    ["yaml", "[".repeat(400_000)],
    ["yaml", "- ".repeat(5_000)],
    ["toml", `a = ${"[".repeat(200_000)}`],
    ["toml", `[${"a.".repeat(3_000)}b]`],
  ] as const)("%s refuses a nesting bomb with a message", async (syntax, text) => {
    const { problems } = await parseDocument(text, syntax);
    expect(problems.map(({ message }) => message).join()).toContain("nested deeper than 64 levels");
  });

  it("refuses a YAML alias bomb", async () => {
    const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"];
    for (let i = 1; i < 9; i++)
      lines.push(
        `a${i}: &a${i} [${Array(9)
          .fill(`*a${i - 1}`)
          .join(", ")}]`,
      );
    const { problems } = await parseDocument(lines.join("\n"), "yaml");
    expect(problems[0]?.message).toContain("aliases");
  });

  it.each(["json", "toml", "yaml"] as const)("%s takes __proto__ as an ordinary name", async (syntax) => {
    const { stringify } = await notation(syntax);
    const hostile = JSON.parse('{ "__proto__": { "polluted": "yes" }, "a": "b" }') as Record<string, unknown>;
    const text = syntax === "toml" ? '[__proto__]\npolluted = "yes"\n' : stringify(hostile);
    const { value } = await parseDocument(text, syntax);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    expect(Object.keys(value as object)).toContain("__proto__");
  });

  it("reports a duplicate key in JSON", async () => {
    const { problems } = await parseDocument('{ "mcpServers": { "a": {}, "a": {} } }', "json");
    expect(problems[0]).toMatchObject({ message: "duplicate key `a`", path: ["mcpServers", "a"] });
  });

  it("formats paths readably", () => {
    expect(formatPath(["mcpServers", "my files", "args", 0])).toBe('mcpServers["my files"].args[0]');
  });
});
