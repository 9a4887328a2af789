import { describe, expect, it } from "vitest";
import { Interrupted } from "../../src/cli/terminal/signals.ts";
import { createHub, loadConfig } from "../../src/index.ts";
import { fakeStdio, readFakeLog } from "../fixtures/fake/index.ts";
import type { Script } from "../fixtures/fake/index.ts";
import { createSandbox } from "../sandbox.ts";

const user = "home/.config/plugboard/config.json";
const screen = { columns: 100, rows: 30 };
const tool = (name: string) => ({ name, description: `Does ${name}`, inputSchema: { type: "object" } });
const hanging = fakeStdio({ start: [{ silent: true }] });

describe("M29 remembered tools come at once", () => {
  it("shows them while another server hangs, and ends with the interrupt", async () => {
    const files = fakeStdio({ tools: [tool("read")] });
    const box = createSandbox({ [user]: { mcpServers: { files } } });
    await box.cli(["tools"]);
    box.write(user, { mcpServers: { files, stuck: hanging } });
    const stop = new AbortController();
    const run = await box.cli(["tools"], {
      screen,
      signal: stop.signal,
      onOut: (out) => out.includes("mcp__files__read") && stop.abort(new Interrupted("SIGINT")),
    });
    expect(run.out).toContain("files  1 tool\n");
    expect(run.code).toBe(130);
  });

  it("adds the others when they answer, marked, and says which one failed", async () => {
    const files = fakeStdio({ tools: [tool("read")] });
    const box = createSandbox({ [user]: { mcpServers: { files } } });
    await box.cli(["tools"]);
    const late = fakeStdio({ tools: [tool("late")], start: [{ delayMs: 50 }] });
    const broken = fakeStdio({ start: [{ raw: "no luck today\n", to: "stderr" }, { exit: 3 }] });
    box.write(user, { mcpServers: { broken, late, files } });
    const run = await box.cli(["tools"], { screen });
    expect(run.code).not.toBe(0);
    expect(run.out).toMatch(/^files {2}1 tool\n.*\nlate {2}1 tool, new\n/s);
    expect(run.err).toContain("broken");
    expect(run.err).toContain("no luck today");
    const again = await box.cli(["tools", "--grep", "LATE"], { screen });
    expect(again.out).toBe("late  1 tool\n  mcp__late__late  Does late\n");
    const one = await box.cli(["search", "late"], { screen });
    expect(one).toMatchObject({ out: expect.stringContaining("mcp__late__late") as string });
  });

  it("gives a file one list in a stable order, whichever server is slow", async () => {
    const servers = {
      "a-slow": fakeStdio({ tools: [tool("a")], start: [{ delayMs: 100 }] }),
      quick: fakeStdio({ tools: [tool("b")] }),
    };
    const box = createSandbox({ [user]: { mcpServers: servers } });
    const first = await box.cli(["tools"]);
    expect(first.out).toBe(
      "a-slow  1 tool\n  mcp__a-slow__a  Does a\nquick  1 tool\n  mcp__quick__b  Does b\n",
    );
    expect((await box.cli(["tools"])).out).toBe(first.out);
  });

  it("shows a remembered tool by its bare name although another server hangs", async () => {
    const files = fakeStdio({ tools: [tool("read")] });
    const box = createSandbox({ [user]: { mcpServers: { files } } });
    await box.cli(["tools"]);
    box.write(user, { mcpServers: { files, stuck: hanging } });
    expect(await box.cli(["tools", "read"])).toMatchObject({
      code: 0,
      out: expect.stringContaining("mcp__files__read") as string,
    });
  });
});

describe("M44 only the named server is started", () => {
  it.each([
    [["call", "nope.x"], 'There is no tool "nope.x": no server is called "nope".'],
    [["call", "mcp__nope__x"], 'There is no tool "mcp__nope__x": no server is called "nope".'],
    [["call", "fils.x"], "Did you mean files.x?"],
    [["tools", "fils/x"], "Did you mean files/x?"],
    [["prompt", "fils.greet"], "Did you mean files.greet?"],
    [["request", "fils", "ping"], 'Did you mean "files"?'],
  ])("answers %j at once, and starts none", async (words, message) => {
    const box = createSandbox();
    const log = box.path("log");
    const script: Script = { tools: [tool("x")], log };
    box.write(user, { mcpServers: { files: fakeStdio(script), other: fakeStdio(script) } });
    const run = await box.cli(words);
    expect([run.code, run.out]).toEqual([4, ""]);
    expect(run.err).toContain(message);
    expect(() => readFakeLog(log)).toThrow("ENOENT");
  });

  it("still finds a bare name with a dot, and starts only the server that is named", async () => {
    const box = createSandbox();
    const log = box.path("log");
    const files = fakeStdio({ tools: [tool("admin.list")], log: box.path("own") });
    box.write(user, { mcpServers: { files, other: fakeStdio({ tools: [tool("y")], log }) } });
    expect(await box.cli(["call", "files.admin.list"])).toMatchObject({ code: 0 });
    expect(() => readFakeLog(log)).toThrow("ENOENT");
    await box.cli(["tools"]);
    expect(await box.cli(["call", "admin.list"])).toMatchObject({ code: 0 });
  });
});

describe("M29 one list whatever the order", () => {
  it("declares the same capabilities in every command, with and without a terminal", async () => {
    const box = createSandbox();
    const log = box.path("log");
    box.write(user, { mcpServers: { files: fakeStdio({ versions: "legacy", tools: [tool("x")], log }) } });
    await box.cli(["tools"]);
    await box.cli(["call", "files.x"]);
    await box.cli(["call", "files.x"], { forms: [], screen });
    await box.cli(["status"]);
    await box.cli(["request", "files", "ping"]);
    const declared = readFakeLog(log).flatMap((line) => {
      if (line.event !== "received") return [];
      const { method, params } = JSON.parse(line.line) as {
        method?: string;
        params?: { capabilities?: unknown };
      };
      return method === "initialize" ? [JSON.stringify(params?.capabilities)] : [];
    });
    expect(declared).toHaveLength(5);
    expect(new Set(declared).size).toBe(1);
    expect(declared[0]).toContain("elicitation");
  });

  it("does not show what it remembers to a program that declares other capabilities", async () => {
    const box = createSandbox();
    const log = box.path("log");
    box.write(user, { mcpServers: { files: fakeStdio({ tools: [tool("x")], log }) } });
    await box.cli(["tools"]);
    const starts = () => readFakeLog(log).filter(({ event }) => event === "start").length;
    await using hub = await createHub(await loadConfig(box.options));
    expect(await hub.tools()).toHaveLength(1);
    expect(starts()).toBe(2);
    await box.cli(["tools"]);
    expect(starts()).toBe(2);
  });

  it("declines what a server asks where nobody can answer, and says so", async () => {
    const box = createSandbox({ [user]: { mcpServers: { files: fakeStdio({}) } } });
    const run = await box.cli(["call", "files.elicit", "message=Name?", "--json"]);
    expect(JSON.stringify(run.json)).toContain("decline");
    expect(run.err).toContain('"files" asked for input. Nobody can answer here, so it was declined.');
  });
});
