import { existsSync, readFileSync, readdirSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { estimateTokens } from "../../src/calls/output/token-estimate.ts";
import { Interrupted } from "../../src/cli/terminal/signals.ts";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";
import { fakeStdio, readFakeLog, startFakeHttp } from "../fixtures/fake/index.ts";
import type { Rule, Script } from "../fixtures/fake/index.ts";

const user = "home/.config/plugboard/config.json";
const dot =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const readFile = {
  name: "read_file",
  title: "Read a file",
  description: "Reads a file.\nOnly text.",
  annotations: { readOnlyHint: true, openWorldHint: false },
  inputSchema: {
    type: "object",
    properties: {
      path: { type: "string", description: "The file to read" },
      head: { type: "integer", minimum: 1, maximum: 100 },
      ratio: { type: "number" },
      deep: { type: "boolean" },
      mode: { enum: ["fast", "slow"], default: "fast" },
      tags: { type: "array", items: { type: "string" } },
      sizes: { type: "array", items: { type: "integer" } },
      filter: { $ref: "#/$defs/filter" },
      rows: { type: "array", items: { $ref: "#/$defs/filter" } },
      maybe: { anyOf: [{ type: "integer" }, { type: "null" }] },
      extra: { type: "object" },
      "dotted.name": { type: "string" },
    },
    required: ["path"],
    additionalProperties: false,
    $defs: {
      filter: {
        type: "object",
        properties: {
          since: { type: "string", format: "date", description: "Not before" },
          deep: { type: "boolean" },
        },
        required: ["since"],
      },
    },
  },
};

const answers: Record<string, Record<string, unknown>> = {
  picture: {
    content: [
      { type: "text", text: "here" },
      { type: "image", data: dot, mimeType: "image/png" },
    ],
  },
  nothing64: { content: [{ type: "image", data: "***", mimeType: "image/png" }] },
  link: { content: [{ type: "resource_link", uri: "file:///a.txt", name: "a", mimeType: "text/plain" }] },
  only: { content: [], structuredContent: { city: "Berlin", days: [{ high: 22 }], note: "two\nlines" } },
  both: { content: [{ type: "text", text: '{"sum":3}' }], structuredContent: { sum: 3 } },
  plain: { content: [{ type: "text", text: "just text" }] },
  evil: {
    content: [{ type: "text", text: "\u001b[2Jgone\u202e" }],
    structuredContent: { "\u001b[1m": "\u001b[2J" },
  },
  broken: { content: [{ type: "text", text: "it broke" }], isError: true },
};

const rules = Object.entries(answers).map(([tool, answer]): Rule => ({ when: { tool }, do: [{ answer }] }));
const files: Script = {
  tools: [
    readFile,
    ...Object.keys(answers).map((name) => ({ name, description: name, inputSchema: { type: "object" } })),
  ],
  on: rules,
};

function setUp(
  script: Script = files,
  extra: Record<string, unknown> = {},
  others: Record<string, unknown> = {},
): Sandbox {
  return createSandbox({ [user]: { mcpServers: { files: { ...fakeStdio(script), ...extra }, ...others } } });
}

/** The arguments the tool was called with. */
async function sent(box: Sandbox, ...words: string[]): Promise<unknown> {
  const run = await box.cli(["call", "files.read_file", "--json", ...words]);
  return (run.json as { structuredContent?: unknown }).structuredContent ?? run.json;
}

describe("tools", () => {
  it("asks servers once, then uses the remembered lists without starting them and says how old they are", async () => {
    const box = createSandbox();
    const log = box.path("log");
    box.write(user, { mcpServers: { files: fakeStdio({ ...files, log }) } });
    const first = await box.cli(["tools"]);
    expect(first.out).toMatch(/^files {2}9 tools\n/);
    expect(first.out).toMatch(/^ {2}mcp__files__read_file +Reads a file\.$/m);
    expect(first.err).toBe("");
    const starts = () => readFakeLog(log).filter(({ event }) => event === "start").length;
    expect(starts()).toBe(1);
    const second = await box.cli(["tools"]);
    expect(second).toMatchObject({
      code: 0,
      out: first.out,
      err: "List saved just now. Use --refresh to ask the servers again.\n",
    });
    expect(starts()).toBe(1);
    expect((await box.cli(["tools", "--refresh"])).err).toBe("");
    expect(starts()).toBe(2);
  });

  it("shows one tool in readable form, with an example call that works", async () => {
    const box = setUp();
    const { out } = await box.cli(["tools", "files.read_file"]);
    expect(out).toContain("mcp__files__read_file  Read a file\n");
    expect(out).toContain("effects   read-only, stays within its own system\n");
    expect(out).toContain("  path  string, required\n      The file to read\n");
    expect(out).toContain("  head  integer, 1 to 100\n");
    expect(out).toContain('  mode  "fast" or "slow", default "fast"\n');
    expect(out).toContain(
      "  filter  object\n    since  string (date), required\n        Not before\n    deep  boolean\n",
    );
    const line = /^plugboard (.*)$/m.exec(out)?.[1] ?? "";
    expect(line).toBe("call files.read_file path=README.md");
    expect(await box.cli(line.split(" "))).toMatchObject({ code: 0, out: "path  README.md\n" });
  });

  it("cuts descriptions to the width of the terminal and escapes control characters", async () => {
    const description = `${"long ".repeat(100)}\u001b[2J`;
    const box = setUp({
      tools: [
        { name: "a", description, inputSchema: { type: "object" } },
        {
          name: "b",
          description: "\u001b[2J\u202e",
          inputSchema: { type: "object", properties: { "\u001b[1m": { description: "\u001b[2J" } } },
        },
      ],
    });
    await box.cli(["tools"]);
    const { out } = await box.cli(["tools"], { screen: { columns: 80, rows: 24 } });
    for (const line of out.split("\n")) expect(line.length).toBeLessThan(80);
    for (const args of [["tools"], ["tools", "b"], ["tools", "a"]]) {
      expect((await box.cli(args)).out).not.toMatch(/[\u001b\u202e]/);
    }
  });

  it("shows with --all which tools cannot be called and why", async () => {
    const hostile = {
      name: "hostile",
      inputSchema: { type: "object", properties: { a: { $ref: "https://evil.example/s" } } },
    };
    const box = setUp(
      { tools: [readFile, hostile, { name: "secret", inputSchema: { type: "object" } }] },
      { tools: { deny: ["sec*"] } },
    );
    const some = await box.cli(["tools"]);
    expect(some.out).toContain("2 tools are not listed. Use --all to see why.");
    expect(some.out).not.toContain("mcp__files__secret");
    const { out } = await box.cli(["tools", "--all"]);
    expect(out).toMatch(/mcp__files__secret +hidden by tools\.deny \(.*config\.json:\d+\)/);
    expect(out).toMatch(/mcp__files__hostile +set-aside: its input schema/);
    expect((await box.cli(["tools", "secret"])).out).toMatch(/status +hidden by tools\.deny \(/);
    expect(await box.cli(["call", "secret"])).toMatchObject({
      code: 7,
      err: expect.stringContaining("`tools.deny` hides it") as string,
    });
  });

  it("continues with the others if a server fails, and names the cause", async () => {
    const box = setUp(files, {}, { dead: { command: "/no/such/program" } });
    const run = await box.cli(["tools"]);
    expect(run.out).toContain("mcp__files__read_file");
    expect(run.err).toMatch(/✗ dead .*\/no\/such\/program/);
    expect(run.code).toBe(5);
    expect((await box.cli(["call", "dead.thing"])).err).toContain("/no/such/program");
    expect((await box.cli(["tools", "--json"])).json).toMatchObject({
      tools: expect.arrayContaining([expect.objectContaining({ id: "mcp__files__read_file" })]) as unknown,
      failures: [{ about: "dead" }],
    });
  });

  it("explains unknown names, and what to do if nothing is configured", async () => {
    const box = setUp();
    expect(await box.cli(["tools", "file"])).toMatchObject({
      code: 4,
      err: expect.stringContaining("Did you mean the server files?") as string,
    });
    expect(await box.cli(["tools", "read_fiel"])).toMatchObject({
      code: 4,
      err: expect.stringContaining("Did you mean read_file?") as string,
    });
    expect((await createSandbox().cli(["tools"])).out).toContain("plugboard add");
  });
});

describe("call", () => {
  it("converts key=value to the types in the tool's schema", async () => {
    const box = setUp();
    box.write("project/text.txt", "from a file\n");
    expect(await sent(box, "path=5", "head=5", "ratio=1e-3", "deep=yes", "mode=slow")).toEqual({
      path: "5",
      head: 5,
      ratio: 0.001,
      deep: true,
      mode: "slow",
    });
    expect(await sent(box, "path=true", "tags=a,b", "tags=c", "sizes=1,2")).toEqual({
      path: "true",
      tags: ["a", "b", "c"],
      sizes: [1, 2],
    });
    expect(await sent(box, "path=a=b", "filter.since=2026-01-31", "filter.deep=false")).toEqual({
      path: "a=b",
      filter: { since: "2026-01-31", deep: false },
    });
    expect(await sent(box, "path=", "rows.0.since=2026-01-31", "rows.1.since=x", "dotted.name=5")).toEqual({
      path: "",
      rows: [{ since: "2026-01-31" }, { since: "x" }],
      "dotted.name": "5",
    });
    expect(await sent(box, "path=@text.txt", 'tags=["a,b"]', 'filter={"since":"x"}', "maybe:=null")).toEqual({
      path: "from a file\n",
      tags: ["a,b"],
      filter: { since: "x" },
      maybe: null,
    });
    expect(await sent(box, 'path:="@x"', "maybe=5", "tags=", "extra.a.b=1", "extra.c=text")).toEqual({
      path: "@x",
      maybe: 5,
      tags: [],
      extra: { a: { b: 1 }, c: "text" },
    });
  });

  it("accepts one JSON object from the command line, a file or standard input", async () => {
    const box = setUp();
    box.write("project/arguments.json", { path: "file" });
    expect(await sent(box, '{"path": "line"}')).toEqual({ path: "line" });
    expect(await sent(box, "@arguments.json")).toEqual({ path: "file" });
    const run = await box.cli(["call", "files.read_file", "-"], { input: '{"path": "input"}' });
    expect(run.out).toBe("path  input\n");
  });

  it("finds tools by ID, server.tool, server/tool and a unique name", async () => {
    const box = setUp();
    for (const name of ["mcp__files__plain", "files.plain", "files/plain", "plain"]) {
      expect(await box.cli(["call", name])).toMatchObject({ code: 0, out: "just text\n" });
    }
  });

  it("rejects bad input with a clear error, the path and a corrected command line", async () => {
    const box = setUp();
    const fail = async (args: string[], code: number, ...words: string[]) => {
      const run = await box.cli(["call", ...args]);
      expect(run.code, args.join(" ")).toBe(code);
      expect(run.out).toBe("");
      for (const word of words) expect(run.err).toContain(word);
    };
    await fail(["files.read_fil"], 4, "Did you mean files.read_file?");
    await fail(["nowhere.tool"], 4, 'There is no tool "nowhere.tool"');
    await fail(
      ["read_file", "pth=a b", "head=2"],
      2,
      "path: is required",
      "plugboard call files.read_file head=2 'path=a b'",
    );
    await fail(
      ["read_file", "path=x", "head=ten"],
      2,
      "head: must be an integer, but is a string",
      "plugboard call files.read_file path=x head=1",
    );
    await fail(["read_file", "path=x", "mode=fats"], 2, "plugboard call files.read_file path=x mode=fast");
    await fail(["read_file", "path=x", "filter.deep=true"], 2, "filter.since: is required");
    await fail(["read_file"], 2, "plugboard call files.read_file path=README.md");
    await fail(["read_file", "README.md"], 2, "Not a valid argument: README.md");
    await fail(["read_file", '{\n  "path": x\n}'], 2, "line 2, column 11");
    await fail(["read_file", "path=x", "extra:={a"], 2, "the value of extra, line 1, column 2");
    await fail(["read_file", "[1]"], 2, "Not a valid argument: [1]");
    await fail(["read_file", "@missing.json"], 2, "Cannot read missing.json: no such file");
    await fail(["read_file", "path=@missing"], 2, `path:='"@missing"'`);
    await fail(["read_file", "path=a", "path=b"], 2, '"path" was given twice');
    await fail(["read_file", "__proto__.x=1"], 2, "Not a valid argument name: __proto__.x");
    await fail(["read_file", "path=x", "--timeout", "soon"], 2, "seconds");
    const wrong = await box.cli(["call", "read_file", "pth=x", "--json"]);
    expect(wrong.json).toMatchObject({
      error: { code: "arguments-invalid", data: { corrected: "plugboard call files.read_file path=x" } },
    });
  });

  it("suggests the right name in place of a misspelt one, also where a tool takes any argument", async () => {
    const inputSchema = {
      type: "object",
      properties: { message: { type: "string" }, times: { type: "integer" } },
      required: ["message"],
    };
    const box = setUp({ tools: [{ name: "say", inputSchema }] });
    const run = await box.cli(["call", "files.say", "mesage=hi", "times=2"]);
    expect(run.err).toContain('message: is required (you wrote "mesage")');
    expect(run.err).toContain("Try: plugboard call files.say times=2 message=hi\n");
  });

  it("says that a server offers no resources or prompts, instead of the protocol's error", async () => {
    const missing = { error: { code: -32_601, message: "Method not found" } };
    const box = setUp({
      on: ["resources/read", "prompts/get"].map((method) => ({ when: { method }, do: [missing] })),
      prompts: [{ name: "plan" }],
    });
    expect((await box.cli(["read", "files", "x://a"])).err).toContain('"files" offers no resources.');
    expect((await box.cli(["prompt", "files.plan"])).err).toContain('"files" offers no prompts.');
  });

  it("shows text, structured content and links without repeating anything", async () => {
    const box = setUp();
    const show = async (name: string) => (await box.cli(["call", name])).out;
    expect(await show("plain")).toBe("just text\n");
    expect(await show("both")).toBe("sum  3\n");
    expect(await show("only")).toBe("city  Berlin\ndays\n  1.\n    high  22\nnote  two\n      lines\n");
    expect(await show("link")).toBe("file:///a.txt  a  text/plain\n");
    expect(await show("evil")).not.toMatch(/[\u001b\u202e]/);
    expect((await box.cli(["call", "both", "--json"])).json).toMatchObject(answers["both"] ?? {});
  });

  it("saves images without overwriting a file, and prints the path", async () => {
    const box = setUp();
    expect((await box.cli(["call", "picture"])).out).toBe(
      "here\nimage image/png, 70 B, saved as image-1.png\n",
    );
    expect((await box.cli(["call", "picture"])).out).toContain("saved as image-1-2.png");
    expect((await box.cli(["call", "picture", "--output", "new/folder"])).out).toContain(
      "saved as new/folder/image-1.png",
    );
    expect(readFileSync(box.path("project/new/folder/image-1.png")).toString("base64")).toBe(dot);
    expect((await box.cli(["call", "nothing64"])).out).toContain("nothing was saved");
    await box.cli(["call", "picture", "--json"]);
    expect(readdirSync(box.project).filter((name) => name.endsWith(".png"))).toHaveLength(2);
  });

  it("names no handle that nobody could use, where nothing can be stored", async () => {
    const text = "word ".repeat(100);
    const script = {
      on: [{ when: { tool: "echo" }, do: [{ answer: { content: [{ type: "text", text }] } }] }],
    };
    const it = { ...fakeStdio(script), output: { maxTokens: 20 } };
    const box = createSandbox({ [user]: { mcpServers: { it } }, blocked: "a file" });
    box.folders.state = box.path("blocked/state");
    const run = await box.cli(["call", "it.echo", "text=x"]);
    expect(run.code).toBe(0);
    expect(run.out).toContain("the rest was not kept");
    expect(run.err).toContain("the whole result was not kept. Call again with --whole.");
    expect(run.out + run.err).not.toMatch(/r_\w{8}/);
  });

  it("prints a tool's error to standard error and exits with 1", async () => {
    expect(await setUp().cli(["call", "broken"])).toMatchObject({
      code: 1,
      out: "",
      err: "error: The tool reported an error:\nit broke\n",
    });
  });

  it("cuts a text of 5 MB to its start and end, and keeps the whole text under a handle to read and search", async () => {
    const lines = Array.from({ length: 450_000 }, (_, index) => `line ${index}`).join("\n");
    expect(lines.length).toBeGreaterThan(5_000_000);
    const http = await startFakeHttp({
      tools: [{ name: "long", inputSchema: { type: "object" } }],
      on: [{ when: { tool: "long" }, do: [{ answer: { content: [{ type: "text", text: lines }] } }] }],
    });
    onTestFinished(() => http.close());
    const box = createSandbox({ [user]: { mcpServers: { it: { url: http.url } } } });
    box.env["MAX_MCP_OUTPUT_TOKENS"] = "25000";
    const raw = (await box.cli(["call", "long", "--json"])).json;
    expect(raw).toMatchObject({ _meta: { "plugboard/output": { cut: true } } });
    const cut = await box.cli(["call", "long"]);
    const handle = /plugboard result (r_\w+)/.exec(cut.err)?.[1] ?? "";
    expect(cut.out).toMatch(
      new RegExp(
        `^line 0\\n.*\\n… [\\d,]+ of [\\d,]+ tokens left out; .* ${handle} …\\n.*\\nline 449999\\n$`,
        "s",
      ),
    );
    expect(estimateTokens(cut.out)).toBeLessThanOrEqual(25_000);
    const first = await box.cli(["result", handle]);
    expect(first.out).toMatch(/^line 0\nline 1\n/);
    expect(first.err).toMatch(new RegExp(`page 1 of \\d+, .*next: plugboard result ${handle} --page 2`));
    const pages = /page 1 of (\d+)/.exec(first.err)?.[1] ?? "";
    expect((await box.cli(["result", handle, "--page", pages])).out).toMatch(/\nline 449999\n$/);
    expect((await box.cli(["result", handle, "--find", "line 312345"])).out).toContain("line 312345");
    expect(await box.cli(["result", handle, "--find", "nowhere"])).toMatchObject({ code: 1, out: "" });
    expect(await box.cli(["result", handle, "--page", "999"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("There is no page 999") as string,
    });
    expect(await box.cli(["result", handle, "--page", "0"])).toMatchObject({ code: 2 });
    expect(await box.cli(["result", "r_unknown"])).toMatchObject({ code: 2 });
    expect((await box.cli(["call", "long", "--whole"])).out).toBe(`${lines}\n`);
  });

  it("M45 selects from a kept result, and passes it on to the next call", async () => {
    const items = Array.from({ length: 4_000 }, (_, id) => ({ id, name: `item ${id}` }));
    const answer = {
      content: [{ type: "text", text: JSON.stringify({ items }) }],
      structuredContent: { items },
    };
    const echo = {
      name: "echo",
      inputSchema: {
        type: "object",
        properties: { text: { type: "string" }, id: { type: "integer" }, item: { type: "object" } },
      },
    };
    const http = await startFakeHttp({
      tools: [{ name: "long", inputSchema: { type: "object" } }, echo],
      on: [{ when: { tool: "long" }, do: [{ answer }] }],
    });
    onTestFinished(() => http.close());
    const box = createSandbox({ [user]: { mcpServers: { it: { url: http.url } } } });
    const cut = await box.cli(["call", "long", "--max-tokens", "25000"]);
    const handle = /plugboard result (r_\w+)/.exec(cut.err)?.[1] ?? "";
    expect((await box.cli(["result", handle, "--select", "/items/7/name"])).out).toBe('"item 7"\n');
    const two = await box.cli(["result", handle, "--select", "/items/1/id", "--select", "/items/2/id"]);
    expect(JSON.parse(two.out)).toEqual({ "/items/1/id": 1, "/items/2/id": 2 });
    const all = await box.cli(["result", handle, "--select", "/items/*/name"]);
    expect(all.err).toContain(`next: plugboard result ${handle} --select '/items/*/name' --page 2`);
    expect((await box.cli(["result", handle, "--part", "structured", "--json"])).json).toMatchObject({
      page: 1,
      text: expect.stringMatching(/^\{\n {2}"items"/) as string,
    });
    expect(await box.cli(["result", handle, "--select", "/nothing"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("There: items.") as string,
    });
    const passed = await box.cli([
      "call",
      "echo",
      `text=@result:${handle}#/items/7/name`,
      `id=@result:${handle}:0#/items/8/id`,
      `item=@result:${handle}#/items/9`,
      "--json",
    ]);
    expect(passed.json).toMatchObject({ structuredContent: { text: "item 7", id: 8, item: items[9] } });
    expect(await box.cli(["call", "echo", "text=@result:r_unknown"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("There is no result with this handle") as string,
    });
  });

  it("shows progress on standard error while it waits, and removes it afterwards", async () => {
    const box = setUp({});
    const run = await box.cli(["call", "progress", "steps=4", "everyMs=300"], {
      screen: { columns: 80, rows: 24 },
    });
    expect(run.out).toBe("4 steps\n");
    expect(run.err).toMatch(/files\.progress {2}\d+% .*step \d/);
    expect(run.err).toMatch(/\u001b\[J.*\u001b\[\?25h$/s);
    expect((await box.cli(["call", "progress", "steps=2"])).err).toBe("");
  });

  it.each(["stdio", "http"])(
    "notifies the server when Ctrl-C cancels the call, over %s",
    async (transport) => {
      const box = createSandbox();
      const log = box.path("log");
      const rules: Rule[] = [{ when: { tool: "sleep" }, do: [{ progress: 1 }, { silent: true }] }];
      const http = transport === "http" ? await startFakeHttp({ versions: "legacy", on: rules }) : undefined;
      if (http) onTestFinished(() => http.close());
      box.write(user, { mcpServers: { it: http ? { url: http.url } : fakeStdio({ log, on: rules }) } });
      const stop = new AbortController();
      const run = await box.cli(["call", "it.sleep", "ms=60000"], {
        signal: stop.signal,
        screen: { columns: 80, rows: 24 },
        onErr: (err) => /sleep .*\d%|sleep {2}\d+ s/.test(err) && stop.abort(new Interrupted("SIGINT")),
      });
      expect(run).toMatchObject({ code: 130, out: "" });
      const heard = http
        ? http.received.map(({ body }) => body)
        : readFakeLog(log).flatMap((line) => (line.event === "received" ? [line.line] : []));
      expect(heard.some((line) => line.includes("notifications/cancelled"))).toBe(true);
    },
  );

  it("fails after --timeout", async () => {
    const run = await setUp({}).cli(["call", "sleep", "ms=60000", "--timeout", "0.3"]);
    expect(run.code).toBe(8);
  });
});

describe("M62 questions on the command line", () => {
  const person = {
    type: "object",
    properties: {
      name: { type: "string", title: "Your name", minLength: 2, maxLength: 10 },
      mail: { type: "string", format: "email" },
      day: { type: "string", format: "date", default: "2026-01-31" },
      age: { type: "integer", minimum: 1 },
      share: { type: "number" },
      news: { type: "boolean", default: true },
      colour: { type: "string", enum: ["r", "g"], enumNames: ["Red", "Green"] },
      size: {
        type: "string",
        oneOf: [
          { const: "s", title: "Small" },
          { const: "l", title: "Large" },
        ],
      },
      tags: {
        type: "array",
        minItems: 1,
        maxItems: 2,
        items: {
          anyOf: [
            { const: "a", title: "A" },
            { const: "b", title: "B" },
            { const: "c", title: "C" },
          ],
        },
      },
    },
    required: ["name", "age", "tags"],
  };
  const elicit = (schema: object) => [
    "call",
    "elicit",
    "--json",
    JSON.stringify({ message: "Who\u001b[2J?", schema }),
  ];
  const answerOf = (run: { json: Record<string, unknown> }) =>
    (run.json["structuredContent"] as { answers: unknown[] }).answers[0];

  it.each(["legacy", "modern"] as const)(
    "asks for every kind of field, checks each, and sends what was said (%s)",
    async (versions) => {
      const box = setUp({ versions });
      const forms = [
        "answer",
        "A",
        "Ada",
        "nope",
        "ada@example.com",
        "2026-02-31",
        "\n",
        "old",
        "0",
        "36",
        "",
        false,
        "g",
        "\0none",
        ["a", "b", "c"],
        ["a", "c"],
        "send",
      ];
      const run = await box.cli(elicit(person), { forms });
      expect(answerOf(run)).toEqual({
        action: "accept",
        content: {
          name: "Ada",
          mail: "ada@example.com",
          day: "2026-01-31",
          age: 36,
          news: false,
          colour: "g",
          tags: ["a", "c"],
        },
      });
      const seen = run.asked.join("\n");
      expect(seen).toContain("files asks: Who\\u{1b}[2J? [Answer|Decline]");
      expect(seen).toContain("Your name");
      expect(seen).toContain("! must be an e-mail address");
      expect(seen).toContain("! must be a date");
      expect(seen).toContain("day (date, optional) <2026-01-31>");
      expect(seen).toContain("[Red|Green|(skip)]");
      expect(seen).toContain("[Small|Large|(skip)]");
      expect(seen).toContain("Send this to files? [Send|Change it|Decline]");
    },
  );

  it.each(["legacy", "modern"] as const)(
    "sends no default for a field that was cleared, also after another round (%s)",
    async (versions) => {
      const schema = {
        type: "object",
        properties: {
          day: { type: "string", default: "2026-01-31" },
          colour: { type: "string", enum: ["r", "g"], default: "g" },
          tags: { type: "array", items: { type: "string", enum: ["a", "b"] }, default: ["a"] },
          size: { type: "integer", enum: [1, 2] },
          who: { type: "string", default: "Ada" },
        },
        required: ["who"],
      };
      const cleared = ["", "\0none", [], "2"];
      const forms = ["answer", ...cleared, "", "Bob", "change", "", "\0none", [], "2", "\n", "send"];
      const run = await setUp({ versions }).cli(elicit(schema), { forms });
      expect(answerOf(run)).toEqual({ action: "accept", content: { size: 2, who: "Bob" } });
      expect(run.asked).toContain("! is required");
      expect(run.asked).toContain("size  2\nwho   Bob");
      expect(run.asked.filter((line) => line.startsWith("day "))).toEqual([
        "day (optional) <2026-01-31>",
        "day (optional)",
      ]);
    },
  );

  it("sends the number that was typed, or says that it cannot", async () => {
    const schema = { type: "object", properties: { n: { type: "number" } } };
    const forms = ["answer", "0x10", "12345678901234567890", " 1.50"];
    const run = await setUp({}).cli(elicit(schema), { forms });
    expect(answerOf(run)).toEqual({ action: "accept", content: { n: 1.5 } });
    expect(run.asked.filter((line) => line.startsWith("!"))).toHaveLength(2);
  });

  it("can be declined, cancelled, and changed before sending", async () => {
    const box = setUp({});
    const two = { type: "object", properties: { a: { type: "string" }, b: { type: "string" } } };
    expect(answerOf(await box.cli(elicit(two), { forms: ["decline"] }))).toEqual({ action: "decline" });
    expect(answerOf(await box.cli(elicit(two), { forms: [undefined] }))).toEqual({ action: "cancel" });
    expect(answerOf(await box.cli(elicit(two), { forms: ["answer", "x", undefined] }))).toEqual({
      action: "cancel",
    });
    expect(answerOf(await box.cli(elicit(two), { forms: ["answer", "x", "y", "decline"] }))).toEqual({
      action: "decline",
    });
    const changed = await box.cli(elicit(two), { forms: ["answer", "x", "y", "change", "\n", "z", "send"] });
    expect(answerOf(changed)).toEqual({ action: "accept", content: { a: "x", b: "z" } });
  });

  it("shows a URL in full with its host and asks, without opening anything", async () => {
    const box = setUp({});
    const url = "https://login.example/a?b=c";
    const call = ["call", "elicit", "--json", `url=${url}`];
    const run = await box.cli(call, { forms: ["accept"] });
    expect(run.asked.join("\n")).toContain(url);
    expect(run.asked.join("\n")).toContain("It leads to login.example.");
    expect(answerOf(run)).toEqual({ action: "accept" });
    expect(answerOf(await box.cli(call, { forms: ["decline"] }))).toEqual({ action: "decline" });
  });

  it("asks for approval if the configuration says so and shows the call; --yes approves it, and no terminal means no", async () => {
    const box = setUp(files, { approval: { tools: { "read_*": "prompt", broken: "deny" } } });
    const call = ["call", "read_file", "path=\u001b[2J"];
    const yes = await box.cli(call, { forms: ["once"] });
    expect(yes.code).toBe(0);
    expect(yes.asked.join("\n")).toMatch(
      /read_file of files \(Read a file\)\nEffects: read-only.*\nArguments:\n {2}path {2}\\u\{1b\}\[2J\nAsked because .*\nRule: approval\.tools\["read_\*"\] in .*config\.json:14\nAlways would cover read_file of "files" with any arguments.*\nCall it\?/,
    );
    expect(await box.cli(call, { forms: ["deny"] })).toMatchObject({
      code: 7,
      err: expect.stringContaining("was not called: you answered No.") as string,
    });
    expect(await box.cli(call, { forms: [undefined] })).toMatchObject({ code: 130 });
    expect(await box.cli(call)).toMatchObject({
      code: 7,
      err: expect.stringContaining("use --yes to allow it") as string,
    });
    expect((await box.cli([...call, "--yes"])).code).toBe(0);
    expect((await box.cli(["call", "broken", "--yes"])).code).toBe(7);
    expect((await box.cli(["call", "plain"])).code).toBe(0);
  });

  it("declines without a terminal", async () => {
    const run = await setUp({ versions: "legacy" }).cli(elicit(person));
    expect(JSON.stringify(run.json)).not.toContain("accept");
  });
});

describe("M47 and M48 on the command line", () => {
  it("lists resources and templates, and reads them", async () => {
    const box = setUp({ resources: [{ uri: "fake://readme", name: "readme", mimeType: "text/plain" }] });
    expect((await box.cli(["resources"])).out).toMatch(
      /^files {2}2 resources\n {2}fake:\/\/readme +text\/plain\n {2}fake:\/\/item\/\{name\} +template, item\n/,
    );
    expect((await box.cli(["resources", "files", "--json"])).json).toMatchObject({
      resources: [{ server: "files" }],
    });
    expect(await box.cli(["read", "files", "fake://readme"])).toMatchObject({
      code: 0,
      out: "text of fake://readme",
    });
    const saved = await box.cli(["read", "files", "fake://item/a.md", "--output", "out"]);
    expect(saved.err).toBe("text: saved as out/a.md\n");
    expect(box.read("project/out/a.md")).toBe("text of fake://item/a.md");
    expect(await box.cli(["read", "files", "other://x"])).toMatchObject({
      code: 5,
      err: expect.stringContaining("not found") as string,
    });
    expect(await box.cli(["read", "fils", "x://y"])).toMatchObject({
      code: 4,
      err: expect.stringContaining('Did you mean "files"?') as string,
    });
    expect(await box.cli(["resources", "fils"])).toMatchObject({ code: 4 });
  });

  it("writes exact text to a pipe and escaped text to a terminal, and saves everything else", async () => {
    const contents = [
      { uri: "x://a", text: "\u001b[2J" },
      { uri: "x://b/../logo.png", mimeType: "image/png", blob: dot },
    ];
    const box = setUp({ on: [{ when: { method: "resources/read" }, do: [{ answer: { contents } }] }] });
    const piped = await box.cli(["read", "files", "x://a"]);
    expect(piped.out).toBe("\u001b[2J");
    expect(piped.err).toBe("image image/png, 70 B, saved as logo.png\n");
    const shown = await box.cli(["read", "files", "x://a"], { screen: { columns: 80, rows: 24 } });
    expect(shown.out).toBe("\\u{1b}[2J\n");
    expect(existsSync(box.path("project/logo-2.png"))).toBe(true);
  });

  it("lists prompts, fills them in by name or position, and shows the messages by role", async () => {
    const prompt = {
      name: "plan",
      description: "Plans",
      arguments: [{ name: "what", required: true }, { name: "when" }],
    };
    const box = setUp({ prompts: [prompt] });
    expect((await box.cli(["prompts"])).out).toBe(
      "files  1 prompt\n  mcp__files__plan <what> [when]  Plans\n",
    );
    const named = await box.cli(["prompt", "files.plan", "when=now", 'a "trip"']);
    expect(named).toMatchObject({ code: 0, out: 'user\n  plan {"when":"now","what":"a \\"trip\\""}\n' });
    expect((await box.cli(["prompt", "plan", "a", "b", "--json"])).json).toMatchObject({
      messages: [{ role: "user" }],
    });
    expect(await box.cli(["prompt", "plan"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("The prompt files.plan needs what.") as string,
    });
    expect(await box.cli(["prompt", "files.plna"])).toMatchObject({ code: 4 });
  });
});

describe("M12 and M51 on the command line", () => {
  it("explains a tool from remembered lists, with the file and line of each rule, and starts nothing", async () => {
    const box = createSandbox();
    const log = box.path("log");
    box.write(user, {
      mcpServers: {
        files: {
          ...fakeStdio({ ...files, log }),
          tools: { deny: ["plain"], rename: { link: "url" } },
          approval: { tools: { "read_*": "prompt" } },
        },
      },
    });
    const unknown = await box.cli(["explain", "files.plain"]);
    expect(unknown).toMatchObject({
      code: 4,
      err: expect.stringContaining("`plugboard tools files`") as string,
    });
    expect(existsSync(log)).toBe(false);
    await box.cli(["tools"]);
    const hidden = await box.cli(["explain", "files.plain"]);
    expect(hidden.out).toMatch(/status +hidden by tools\.deny \(.*config\.json:\d+\)/);
    expect(hidden.out).toMatch(/rule +tools\.deny\[0\] "plain" +.*config\.json:\d+/);
    expect((await box.cli(["explain", "read_file"])).out).toMatch(
      /approval  prompt, from .*config\.json:\d+/,
    );
    expect((await box.cli(["explain", "files.url"])).out).toContain("link, renamed to url");
    expect((await box.cli(["explain", "files"])).out).toMatch(/state +ready$/m);
    expect(readFakeLog(log).filter(({ event }) => event === "start")).toHaveLength(1);
  });

  it("compiles every known tool for a provider and says what is lost", async () => {
    const free = {
      name: "free",
      inputSchema: { type: "object", properties: { any: { type: "object" } }, required: ["any"] },
    };
    const box = setUp({ tools: [free, { name: "fine", inputSchema: { type: "object", properties: {} } }] });
    expect((await box.cli(["doctor", "--provider", "gemini"])).out).toContain("tools not known yet");
    await box.cli(["tools"]);
    const strict = await box.cli(["doctor", "--provider", "openai-strict"]);
    expect(strict.out).toContain("openai-strict  1 of 2 tools can be offered; 1 is set aside; ");
    expect(strict.out).toMatch(/✗ mcp__files__free {2}cannot be offered: properties\.any/);
    expect(strict.code).toBe(3);
    expect((await box.cli(["doctor", "--provider", "anthropic", "--json"])).json).toMatchObject({
      tools: [{ ok: true }, { ok: true }],
    });
    expect((await box.cli(["doctor", "--provider", "nobody"])).code).toBe(2);
  });

  it("counts the tools that no provider can be offered, with the reasons, and not those that a rule hides", async () => {
    const plain = { type: "object", properties: {} };
    const remote = { type: "object", properties: { a: { $ref: "https://evil.example/schema" } } };
    const tools = [
      { name: "fine", inputSchema: plain },
      { name: "far", inputSchema: remote },
      { name: "secret", inputSchema: plain },
    ];
    const box = createSandbox();
    box.write(user, { mcpServers: { files: { ...fakeStdio({ tools }), tools: { deny: ["secret"] } } } });
    await box.cli(["tools"]);
    const run = await box.cli(["doctor", "--provider", "anthropic"]);
    expect(run.out).toContain(
      "anthropic  1 of 2 tools can be offered; 1 is set aside; all schemas are supported",
    );
    expect(run.out).toMatch(
      /✗ mcp__files__far {2}cannot be offered: its input schema at .*\n.*every provider/,
    );
    expect(run.code).toBe(3);
    expect((await box.cli(["doctor", "--provider", "anthropic", "--json"])).json).toMatchObject({
      offered: 1,
      setAside: 1,
      tools: [
        { id: "mcp__files__far", ok: false, setAside: true },
        { id: "mcp__files__fine", ok: true },
      ],
    });
  });

  it("says which patterns match no tool, and where they are", async () => {
    const box = createSandbox();
    box.write(
      user,
      `{ "mcpServers": { "files": ${JSON.stringify(fakeStdio(files)).slice(0, -1)},
        "tools": {
          "deny": ["plain",
                   "delet_*"] },
        "approval": { "tools": { "raed_file": "prompt" } } } },
       "bundles": { "reading": { "servers": ["files"], "tools": {
          "allow": ["read_*", "lnik"] } } } }`,
    );
    expect((await box.cli(["doctor"])).out).not.toContain("matches no tool");
    await box.cli(["tools"]);
    const { json, code } = await box.cli(["doctor", "--json"]);
    const findings = json["findings"] as { about: string; message: string; advice: string }[];
    const wrong = findings.filter(({ message }) => message.includes("matches no tool"));
    expect(
      wrong.map(({ about, message, advice }) => [about.replace(/^.*config/, ""), message, advice]),
    ).toEqual([
      [
        ".json:4 mcpServers.files.tools.deny[1]",
        '"delet_*" matches no tool of files',
        "correct or remove it",
      ],
      [
        ".json:5 mcpServers.files.approval.tools.raed_file",
        '"raed_file" matches no tool of files',
        'did you mean "read_file"?',
      ],
      [".json:7 bundles.reading.tools.allow[1]", '"lnik" matches no tool of files', 'did you mean "link"?'],
    ]);
    expect(code).toBe(0);
  });

  it("M42 says which rules for arguments are mistaken, and applies the others", async () => {
    const echo = {
      name: "echo",
      inputSchema: {
        type: "object",
        properties: { text: { type: "string" }, project: { type: "string" } },
        required: ["text", "project"],
      },
    };
    const rules = {
      describe: { echo: "Repeats what our team says.", ecko: "Nothing." },
      defaults: { echo: { project: "web", txet: 1 } },
      hideArguments: { echo: ["project"] },
    };
    const box = setUp({ tools: [echo] }, { tools: rules });
    const page = await box.cli(["tools", "files.echo"]);
    expect(page.out).toContain("Repeats what our team says.");
    expect(page.out).not.toContain("project");
    const called = await box.cli(["call", "echo", "text=hello", "--json"]);
    expect(called.json).toMatchObject({ structuredContent: { text: "hello", project: "web" } });
    expect(await box.cli(["call", "echo", "text=hello", "project=other"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("the configuration hides this argument") as string,
    });
    const { out } = await box.cli(["doctor"]);
    expect(out).toMatch(/mcpServers\.files\.tools\.describe\.ecko {2}"ecko" matches no tool of files/);
    expect(out).toMatch(/tools\.defaults\.echo\.txet {2}the tool echo has no argument "txet"/);
  });

  it("completes tools, parameters, servers and prompts from remembered lists", async () => {
    const box = setUp();
    await box.cli(["tools"]);
    await box.cli(["prompts"]);
    const words = async (...line: string[]) =>
      (await box.cli(["completion", "words", "--", ...line])).out.split("\n");
    expect(await words("call", "files.r")).toEqual(["files.read_file", ""]);
    expect(await words("call", "mcp__files__p")).toEqual(["mcp__files__picture", "mcp__files__plain", ""]);
    expect(await words("call", "files.read_file", "pa")).toEqual(["path=", ""]);
    expect(await words("tools", "fi")).toContain("files");
    expect(await words("read", "f")).toEqual(["files", ""]);
    expect(await words("prompt", "mcp")).toEqual(["mcp__files__greet", ""]);
    expect(await words("call", "--w")).toEqual(["--whole", ""]);
  });
});
