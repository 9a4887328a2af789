import { describe, expect, it } from "vitest";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { createSandbox } from "../sandbox.ts";

const user = "home/.config/plugboard/config.json";
const prompts = [{ name: "forecast", arguments: [{ name: "city", required: true }, { name: "days" }] }];

function setUp() {
  const files = fakeStdio({ prompts });
  const off = { ...files, enabled: false };
  return createSandbox({ [user]: { mcpServers: { files, "a-server-with-a-long-name": off } } });
}

describe("M14 a mistake on the command line", () => {
  it.each([
    [["call", "files", "echo"], 4, "Try: plugboard call files.echo"],
    [["call", "files", "echo", "a=1"], 4, "Try: plugboard call files.echo a=1"],
    [["call", "files:echo"], 4, "Did you mean files.echo?"],
    [["call", "files.echo", "--jsn"], 2, "Did you mean --json?"],
    [["call", "files.sleep", "sm=1"], 2, 'The tool has no parameter "sm". Did you mean ms?'],
    [["call", "files"], 4, "Try: plugboard tools files"],
    [["--port", "3", "serve"], 2, "Options follow the command: `plugboard serve --port 3`"],
    [["--hlep"], 2, "Did you mean `plugboard --help`?"],
    [["uninstall", "files"], 2, "Did you mean `plugboard remove`?"],
    [["tools", "--url", "ws://127.0.0.1:9"], 2, "Try: --url http://127.0.0.1:9"],
    [["tools", "--url", "localhost:9"], 2, "Try: --url http://localhost:9"],
    [["list", "--trace"], 2, "Unknown option '--trace'."],
    [["login", "files"], 2, "only remote servers have a login"],
    [["read", "fake://readme"], 2, "For example: plugboard read files fake://readme"],
    [["read", "files", "fake://nope/x/y"], 5, "Run `plugboard resources files` to see what it offers."],
    [["logout", "files", "--profile", "work"], 2, "only remote servers have a login"],
    [["add", "x", "http://127.0.0.1:99999/mcp"], 3, "check its host and port"],
    [["lock", "nosuch"], 4, "Unknown server or tool: nosuch"],
    [["lock", "files"], 2, "Review the differences with `plugboard verify files`"],
    [["serve", "--stdio", "--port", "7"], 2, "Leave out --port, or leave out --stdio."],
    [["prompt", "files.forecast"], 2, "Try: plugboard prompt files.forecast city=example"],
    [["secret", "set", "TOKEN=abc"], 2, "Give the name alone."],
    [["status", "fils"], 4, 'There is no server "fils".\n       Did you mean "files"?'],
    [["get", "fils"], 4, 'Did you mean "files"?'],
    [["disable", "fils"], 4, 'Did you mean "files"?'],
    [["trust", "fils"], 4, 'Did you mean "files"?'],
    [["logs", "fils"], 4, 'There is no server "fils".\n       Did you mean "files"?'],
    [["list", "--nope"], 2, "Run `plugboard list --help`."],
    [["approvals", "lst"], 2, "Did you mean `plugboard approvals list`?"],
    [["prompt", "files.forecast", "cty=Paris"], 2, "Did you mean city=Paris?"],
    [["prompt", "files.forecast", "--cty", "Paris"], 2, "Did you mean --city?"],
  ])("%j exits with %i and says: %s", async (words, code, text) => {
    const run = await setUp().cli(words);
    expect([run.code, run.err]).toEqual([code, expect.stringContaining(text)]);
  });

  it("accepts a whole file with one server where the JSON of one is expected", async () => {
    const box = setUp();
    const whole = (servers: object) => JSON.stringify({ mcpServers: servers });
    const one = { command: "npx", args: ["-y", "one@1.0.0"] };
    expect((await box.cli(["add-json", "one", whole({ other: one })])).code).toBe(0);
    expect((await box.cli(["get", "one", "--json"])).json).toMatchObject({ name: "one", type: "stdio" });
    expect(await box.cli(["add-json", "two", whole({ a: one, b: one })])).toMatchObject({
      code: 2,
      err: expect.stringContaining("Give the configuration of one server.") as string,
    });
  });

  it("does not say that there are no servers where a file cannot be read or a server be reached", async () => {
    const box = createSandbox({ [user]: { mcpServers: { gone: { command: "/nowhere/gone" } } } });
    const config = box.write("project/broken.json", '{ "mcpServers": {');
    expect(await box.cli(["list", "--config", config])).toMatchObject({ out: "" });
    const tools = await box.cli(["tools", "gone"]);
    expect(tools).toMatchObject({
      out: "",
      err: expect.stringContaining("/nowhere/gone does not exist") as string,
    });
    expect(tools.err).toContain("Install the program there, or correct `command`.");
  });

  it("fails where a folder for files cannot be made, and does not wait for it", async () => {
    const image = { type: "image", data: "AAAA", mimeType: "image/png" };
    const on = [{ when: { method: "tools/call" }, do: [{ answer: { content: [image] } }] }];
    const box = createSandbox({ [user]: { mcpServers: { files: fakeStdio({ on }) } } });
    expect(await box.cli(["call", "files.echo", "--output", "/proc/nowhere/here"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("Could not save image-1.png") as string,
    });
  });

  it("takes the options that all commands share before the command too", async () => {
    const box = setUp();
    const config = box.write("project/other.json", { mcpServers: { other: fakeStdio({}) } });
    const run = await box.cli(["--json", "--config", config, "list"]);
    expect(run.json).toMatchObject({ servers: [{ name: "other" }] });
  });

  it("fills in a prompt from --name value, and takes text with = in quotes of a name", async () => {
    const box = setUp();
    expect(await box.cli(["prompt", "files.forecast", "--city", "Paris"])).toMatchObject({
      code: 0,
      err: "",
    });
    expect(await box.cli(["prompt", "files.forecast", "city=a=b"])).toMatchObject({ code: 0, err: "" });
  });

  it("fails when answers are revoked that nobody gave", async () => {
    const box = setUp();
    expect(await box.cli(["approvals", "revoke", "nope"])).toMatchObject({ code: 4 });
    expect(await box.cli(["approvals", "revoke", "files"])).toMatchObject({ code: 0 });
    expect((await box.cli(["approvals", "list"])).out).toBe("No answers are remembered.\n");
  });

  it("shows how a command is used as it is typed", async () => {
    const box = setUp();
    expect((await box.cli(["call", "--help"])).out).toMatch(/^Usage: plugboard call \[options\]/);
    expect((await box.cli(["approvals", "revoke", "--help"])).out).toMatch(
      /^Usage: plugboard approvals revoke/,
    );
    expect((await box.cli(["call", "--help"])).out).not.toContain("make-arguments");
  });
});

describe("M14 a mistake in the configuration", () => {
  it("says what is wrong with the value of `timeout`, and fails where nothing can be listed", async () => {
    const box = createSandbox({ [user]: { mcpServers: { one: { command: "node", timeout: "soon" } } } });
    const run = await box.cli(["tools"]);
    expect(run.code).toBe(3);
    expect(run.err).toContain("timeout: expected a number of milliseconds — for example 30000");
  });

  it("says that a bundle waits for trust", async () => {
    const box = createSandbox();
    box.write("project/plugboard.json", { bundles: { work: { servers: ["files"] } } });
    const run = await box.cli(["serve", "--stdio", "--bundle", "work"]);
    expect(run.code).not.toBe(0);
    expect(run.err).toContain("`plugboard trust`");
  });

  it("says why an export writes nothing, and counts warnings", async () => {
    const box = createSandbox();
    await box.cli(["add", "files", "--scope", "local", "--", "npx", "-y", "some-package"]);
    const run = await box.cli(["export", "codex", "--write", "--yes"]);
    expect(run.out).toContain("Nothing was written: there is no user server. Yours are in the scope local");
    expect((await box.cli(["doctor"])).out).toMatch(
      /found, \d+ warnings?\.\nNo server was started\. Run `plugboard doctor --connect` to test them\.\n$/,
    );
  });
});

describe("M14 a narrow terminal", () => {
  it("gets a second line instead of lines that are too long", async () => {
    const box = setUp();
    const screen = { columns: 50, rows: 24 };
    for (const words of [["list"], ["tools", "files"], ["prompts", "files"]]) {
      const { out } = await box.cli(words, { screen });
      const text = out.replaceAll(/\u001b\[[\d;?]*[A-Za-z]/g, "");
      expect(text).toContain("files");
      expect(text.split("\n").filter((line) => line.length > 50)).toEqual([]);
    }
  });

  it("reads that a server is off once", async () => {
    const run = await setUp().cli(["status", "a-server-with-a-long-name"]);
    expect(run.out).toContain("1 server off.");
    expect(run.out).not.toContain("switched off");
  });
});
