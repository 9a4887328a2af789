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
    [["call", "files"], 4, "Try: plugboard tools files"],
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
