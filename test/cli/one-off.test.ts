import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { joinArgv } from "../../src/lib/argv.ts";
import { fakeStdio, readFakeLog, startFakeHttp } from "../fixtures/fake/index.ts";
import type { Script } from "../fixtures/fake/index.ts";
import { createSandbox } from "../sandbox.ts";

const user = "home/.config/plugboard/config.json";

function lineOf(script: Script): string {
  const { command, args } = fakeStdio(script);
  return joinArgv([command, ...args]);
}

const plain = ["--command", lineOf({})];

async function remote(script: Script = {}): Promise<string[]> {
  const http = await startFakeHttp(script);
  onTestFinished(() => http.close());
  return ["--url", http.url];
}

describe("M20 a server that is used without configuring it", () => {
  it.each([
    ["a program", async () => plain, "fake-stdio"],
    ["a URL", () => remote(), "127-0-0-1"],
  ])("lists, calls, reads and reports with %s, and writes no configuration", async (_, words, name) => {
    const box = createSandbox();
    const one = await words();
    const ok = async (...args: string[]) => {
      const run = await box.cli([...args, ...one]);
      expect([args[0], run.code, run.err]).toEqual([args[0], 0, ""]);
      return run.out;
    };
    expect(await ok("tools")).toContain(`${name}  14 tools\n`);
    expect(await ok("tools", "add")).toContain(`mcp__${name}__add`);
    expect(await ok("call", "add", "a=1", "b=2")).toBe("sum  3\n");
    expect(await ok("call", `${name}.add`, "--a", "1", "--b=2")).toBe("sum  3\n");
    const listed = JSON.parse(await ok("resources", "--json")) as { resources: { raw: { uri: string } }[] };
    const uri = listed.resources[0]?.raw.uri ?? "";
    expect(await ok("read", uri)).not.toBe("");
    expect(await ok("read", name, uri)).not.toBe("");
    const prompts = JSON.parse(await ok("prompts", "--json")) as { prompts: { name: string }[] };
    expect(await ok("prompt", prompts.prompts[0]?.name ?? "")).not.toBe("");
    expect(await ok("status")).toContain(`${name}  `);
    expect(await ok("request", "resources/list")).toContain('"resources"');
    expect(await ok("search", "adds")).toContain("add");
    expect(existsSync(box.path(user))).toBe(false);
    expect(existsSync(join(box.folders.state, "logs"))).toBe(false);
    expect((await box.cli(["list"])).out).toContain("No servers");
  });

  it("asks the server instead of using what is remembered, and starts no configured one", async () => {
    const box = createSandbox();
    const log = box.path("log");
    box.write(user, { mcpServers: { files: fakeStdio({ log: box.path("other") }) } });
    const line = lineOf({ log });
    await box.cli(["tools", "--command", line]);
    expect((await box.cli(["tools", "--command", line])).err).toBe("");
    expect(readFakeLog(log).filter(({ event }) => event === "start")).toHaveLength(2);
    expect(existsSync(box.path("other"))).toBe(false);
  });

  it("passes variables and headers on, and expands secrets in them", async () => {
    const box = createSandbox();
    box.env["TOKEN_OF_MINE"] = "abcdefgh12345678";
    const log = box.path("log");
    const words = ["--command", lineOf({ log }), "-e", "MODE=test", "--env", "KEY=${secret:TOKEN_OF_MINE}"];
    expect(await box.cli(["call", "echo", ...words])).toMatchObject({ code: 0 });
    const [start] = readFakeLog(log);
    expect(start).toMatchObject({ env: { MODE: "test", KEY: "abcdefgh12345678" } });
    const http = await startFakeHttp({});
    onTestFinished(() => http.close());
    const header = ["--url", http.url, "-H", "X-Team: ${TOKEN_OF_MINE}"];
    expect(await box.cli(["call", "echo", ...header])).toMatchObject({ code: 0 });
    expect(http.received[0]?.headers).toMatchObject({ "x-team": "abcdefgh12345678" });
  });

  it("obeys the machine's policy", async () => {
    const box = createSandbox();
    box.write("managed/managed.json", { allowedMcpServers: [{ serverUrl: "https://ok.example/*" }] });
    for (const words of [plain, await remote()]) {
      const run = await box.cli(["tools", ...words]);
      expect(run.code).toBe(7);
      expect(run.err).toContain("managed.json");
    }
    box.write("managed/managed.json", { approval: { tools: { echo: "deny" } } });
    expect(await box.cli(["call", "echo", ...plain])).toMatchObject({ code: 7 });
    box.write("managed/managed.json", { mcpServers: { mine: fakeStdio({}) } });
    expect((await box.cli(["tools", ...plain])).err).toContain("only those in");
  });

  it("works beside a configuration that cannot be read", async () => {
    const box = createSandbox({ [user]: "{ not json" });
    expect(await box.cli(["call", "add", "a=1", "b=2", ...plain])).toMatchObject({
      code: 0,
      out: "sum  3\n",
    });
  });

  it.each([
    [["tools", "--command", "x", "--url", "https://a.example"], "Use either --command or --url."],
    [["tools", "--command", " "], "--command needs a program."],
    [["tools", "--url", "ws://a.example"], "--url needs an http:// or https:// URL"],
    [["tools", "-H", "A: b"], "--header works only with --url."],
    [["tools", "-e", "A=b"], "--env works only with --command."],
    [["tools", "--command", "x", "-e", "A"], "Write it as -e KEY=value"],
    [["status", "--watch", "--command", "x"], "remove --command or --url"],
    [["read", "--command", "x"], "missing"],
  ])("refuses %j", async (words, message) => {
    const run = await createSandbox().cli(words);
    expect(run.code).toBe(2);
    expect(run.err.toLowerCase()).toContain(message.toLowerCase());
  });

  it("names the program that does not exist", async () => {
    const run = await createSandbox().cli(["call", "x", "--command", "no-such-program-here --flag"]);
    expect(run.code).not.toBe(0);
    expect(run.err).toContain("no-such-program-here");
  });

  it.each([
    ["npx -y @modelcontextprotocol/server-everything@1.0.0", "server-everything"],
    ["node ./tools/weather.mjs --port 1", "weather"],
    ["node /opt/maps/dist/index.js", "maps"],
    ["uvx mcp-server-git", "mcp-server-git"],
    ["pnpm dlx thing", "thing"],
  ])("calls %j %s", async (line, name) => {
    const box = createSandbox({ "managed/managed.json": { deniedMcpServers: [{ serverName: "*" }] } });
    expect((await box.cli(["tools", "--command", line])).err).toContain(`"${name}"`);
  });
});
