import { describe, expect, it } from "vitest";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";

const user = "home/.config/plugboard/config.json";
const tool = {
  name: "find",
  inputSchema: {
    type: "object",
    properties: {
      path: { type: "string" },
      maxResults: { type: "integer" },
      deep_search: { type: "boolean" },
      tags: { type: "array", items: { type: "string" } },
      filter: { type: "object", properties: { since: { type: "string" } } },
      timeout: { type: "integer" },
      "no-cache": { type: "boolean" },
    },
    additionalProperties: false,
  },
};

function setUp(): Sandbox {
  return createSandbox({ [user]: { mcpServers: { files: fakeStdio({ tools: [tool] }) } } });
}

describe("M43 --key value beside key=value", () => {
  it.each([
    [["--path", "a.txt"], { path: "a.txt" }],
    [["--path=a=b"], { path: "a=b" }],
    [["--maxResults", "5", "path=x"], { maxResults: 5, path: "x" }],
    [["--max-results", "5"], { maxResults: 5 }],
    [["--max_results=5"], { maxResults: 5 }],
    [["--deep-search"], { deep_search: true }],
    [["--deep_search", "false", "--path", "x"], { deep_search: false, path: "x" }],
    [["--deep-search", "--path", "x"], { deep_search: true, path: "x" }],
    [["--no-deep-search"], { deep_search: false }],
    [["--no-cache"], { "no-cache": true }],
    [["--tags", "a,b", "--tags", "c"], { tags: ["a", "b", "c"] }],
    [["--filter.since", "2026-01-01"], { filter: { since: "2026-01-01" } }],
    [["--path", "-1"], { path: "-1" }],
    [["--path", ""], { path: "" }],
    [["timeout=3", "--path", "x"], { timeout: 3, path: "x" }],
  ])("reads %j", async (words, expected) => {
    const run = await setUp().cli(["call", "files.find", ...words, "--json"]);
    expect(run.json["structuredContent"]).toEqual(expected);
  });

  it("lets options of our own win, wherever they stand", async () => {
    const box = setUp();
    const run = await box.cli(["call", "--json", "files.find", "--timeout", "20", "--path", "x"]);
    expect(run.json["structuredContent"]).toEqual({ path: "x" });
  });

  it.each([
    [["files.find", "--pth", "x"], "has an option --pth", "Did you mean --path?"],
    [["files.find", "--zzzzzzzz"], "has an option --zzzzzzzz", "Its parameters are --path, --maxResults"],
    [["files.find", "--path"], "--path needs a value", "For example: --path README.md"],
    [["files.find", "--path", "--deep-search"], "--path needs a value", "For example: --path README.md"],
    [["files.find", "--no-path"], "has an option --no-path", "--path"],
    [["files.find", "--no-deep-search=1"], "--no-deep-search takes no value", "deep_search=1"],
    [["--path", "x", "files.find"], "Unknown option --path", "come after its name"],
    [["files.find", "--url", "http://127.0.0.1:9/"], "--url names a server", "write url=<value>"],
    [["files.find", "-x"], "Not a valid argument: -x", "key=value"],
  ])("explains what is wrong with %j", async (words, message, hint) => {
    const run = await setUp().cli(["call", ...words]);
    expect([run.code, run.out]).toEqual([2, ""]);
    expect(run.err).toContain(message);
    expect(run.err).toContain(hint);
  });
});

describe("M12 short names of commands", () => {
  it("knows ls and rm, and shows them in the help", async () => {
    const box = setUp();
    expect((await box.cli(["ls"])).out).toBe((await box.cli(["list"])).out);
    expect((await box.cli(["--help"])).out).toMatch(/list, ls +list the configured servers/);
    expect((await box.cli(["help", "rm"])).out).toContain("remove");
    expect(await box.cli(["rm", "files"])).toMatchObject({ code: 0 });
    expect((await box.cli(["ls"])).out).toContain("No servers");
  });

  it("filters tools by a text, and says if none has it", async () => {
    const box = setUp();
    expect((await box.cli(["tools", "--grep", "FIND"])).out).toContain("mcp__files__find");
    expect(await box.cli(["tools", "--grep", "zebra"])).toMatchObject({
      code: 0,
      out: 'No tool has "zebra" in its name, title or description.\n',
    });
    expect((await box.cli(["tools", "files", "--grep", "zebra", "--json"])).json["tools"]).toEqual([]);
  });
});
