import { describe, expect, it, onTestFinished } from "vitest";
import { PinnedServer, poisoned, readFile } from "../hub/pinned-server.ts";
import { createSandbox } from "../sandbox.ts";
import { fakeStdio, startFakeHttp } from "../fixtures/fake/index.ts";

const user = "home/.config/plugboard/config.json";

interface Checked {
  ready: boolean;
  tools: { tool: string; state: string; reason: string; hint?: string; id?: string }[];
}

/** One server for each answer that `check` has. */
async function everyServer() {
  const unauthorised = await startFakeHttp({
    on: [{ when: {}, do: [{ http: { status: 401, headers: { "WWW-Authenticate": "Bearer" } } }] }],
  });
  onTestFinished(() => unauthorised.close());
  const broken = { name: "odd", inputSchema: { type: "object", $ref: "https://example.com/schema.json" } };
  return {
    good: fakeStdio({}),
    off: { ...fakeStdio({}), enabled: false },
    locked: fakeStdio({ moreTools: [broken] }),
    narrow: {
      ...fakeStdio({}),
      tools: { deny: ["echo"] },
      approval: { tools: { add: "deny", big: "prompt" } },
    },
    guarded: { url: unauthorised.url },
    slow: fakeStdio({ start: [{ silent: true }] }),
    missing: { command: "no-such-program" },
  };
}

describe("M12 check", () => {
  const cases: [string, string, number, string, RegExp][] = [
    ["a tool that can be called", "good.echo", 0, "ready", /can be called/],
    ["a tool by its id", "mcp__good__echo", 0, "ready", /can be called/],
    ["a tool that is asked about", "narrow.big", 0, "ready", /approval is prompt/],
    ["a disabled server", "off.echo", 7, "blocked", /disabled|switched off|enabled/],
    ["a tool that is set aside", "locked.odd", 7, "blocked", /set-aside: .*schema/],
    ["a tool that a rule hides", "narrow.echo", 7, "blocked", /hidden by tools\.deny/],
    ["a tool whose calls are denied", "narrow.add", 7, "blocked", /denies calls/],
    ["a server that needs a login", "guarded.echo", 7, "blocked", /login|HTTP 401/],
    ["a server that cannot be started", "missing.echo", 7, "blocked", /no-such-program/],
    ["a tool that does not exist", "good.ecko", 4, "unknown", /no tool "good\.ecko"/],
  ];
  it.each(cases)("%s", async (_name, tool, code, state, reason) => {
    const servers = await everyServer();
    const own = tool.replace(/^mcp__/, "").split(/\.|__/)[0] as keyof typeof servers;
    const box = createSandbox({ [user]: { mcpServers: { [own]: servers[own] } } });
    const run = await box.cli(["check", tool, "--json"]);
    const { ready, tools } = run.json as unknown as Checked;
    expect({ code: run.code, ready, state: tools[0]?.state }).toEqual({ code, ready: code === 0, state });
    expect(tools[0]?.reason).toMatch(reason);
    if (code !== 0) expect(tools[0]?.hint).toBeTruthy();
  });

  it("a tool that a lock sets aside, with the reason and the command that shows the difference", async () => {
    const server = new PinnedServer({ tools: [readFile] });
    await server.pin();
    server.offer({ tools: [poisoned] });
    const check = async () => {
      const { code: exit, json } = await server.box.cli(["check", "files.read_file", "--json"]);
      return { exit, ...(json as unknown as Checked).tools[0] };
    };
    expect(await check()).toMatchObject({
      exit: 7,
      state: "blocked",
      code: "lock-mismatch",
      reason: "it is set-aside: its description changed since the lock file was written",
      hint: expect.stringContaining("`plugboard lock files`") as unknown,
    });
    server.box.write(server.lock, "{");
    expect((await check()).hint).toContain("Restore plugboard.lock");
  });

  it("a server that is starting has to be waited for", async () => {
    const { slow, good } = await everyServer();
    const box = createSandbox({ [user]: { mcpServers: { slow, good } } });
    const run = await box.cli(["check", "slow.echo", "--wait", "0.2"]);
    expect(run.code).toBe(8);
    expect(run.out).toMatch(/^wait +slow\.echo +its server is still starting +→ Try again/);
  });

  it("a server that never starts in time has to be waited for, too", async () => {
    const { slow } = await everyServer();
    const box = createSandbox({ [user]: { mcpServers: { slow: { ...slow, startupTimeoutMs: 300 } } } });
    const run = await box.cli(["check", "slow.echo"]);
    expect(run.code).toBe(8);
    expect(run.out).toMatch(/^wait +slow\.echo +.*(did not|in time)/);
  });

  it.each(["nope.echo", "nope/echo", "mcp__nope__echo", "sloow.echo"])(
    "%s is unknown, whatever another server does that is still starting",
    async (tool) => {
      const { slow } = await everyServer();
      const box = createSandbox({ [user]: { mcpServers: { slow } } });
      const run = await box.cli(["check", tool, "--wait", "0.2"]);
      expect(run.code).toBe(4);
      expect(run.out).toMatch(/^unknown .*no server is called/);
    },
  );

  it("a bare name that a starting server may have has to be waited for", async () => {
    const { slow } = await everyServer();
    const box = createSandbox({ [user]: { mcpServers: { slow } } });
    expect((await box.cli(["check", "echo", "--wait", "0.2"])).code).toBe(8);
  });

  it("the worst one counts, and each has its line", async () => {
    const { good, off, slow } = await everyServer();
    const box = createSandbox({ [user]: { mcpServers: { good, off, slow } } });
    const check = (...tools: string[]) => box.cli(["check", ...tools, "--wait", "2"]);
    const all = await check("good.echo", "slow.echo", "off.echo", "good.nothing");
    expect(all.code).toBe(4);
    expect(all.out.split("\n").map((line) => line.split(" ")[0])).toEqual([
      "ready",
      "wait",
      "blocked",
      "unknown",
      "",
    ]);
    expect((await check("good.echo", "slow.echo", "off.echo")).code).toBe(7);
    expect((await check("good.echo", "slow.echo")).code).toBe(8);
    expect((await check("good.echo", "good.add")).code).toBe(0);
  });

  it("refuses a wait that is no number of seconds, and a check of nothing", async () => {
    const box = createSandbox({ [user]: { mcpServers: {} } });
    expect(await box.cli(["check", "a.b", "--wait", "soon"])).toMatchObject({ code: 2 });
    expect(await box.cli(["check"])).toMatchObject({ code: 2 });
    expect((await box.cli(["check", "a.b"])).code).toBe(4);
  });
});

describe("M12 deferred tools", () => {
  const config = (toolSearch: unknown) => ({
    toolSearch,
    mcpServers: { good: { ...fakeStdio({}), alwaysLoad: ["add"] } },
  });

  it("`explain` says whether a tool is deferred, why, and where that is written", async () => {
    const box = createSandbox({ [user]: config("auto:0") });
    await box.cli(["tools"]);
    const text = (await box.cli(["explain", "good.echo"])).out;
    expect(text).toMatch(
      /deferred +yes: the tools' definitions take more than 0 \(0 % of `contextTokens`, 200,000\) tokens, toolSearch  .*config\.json:2/,
    );
    const kept = (await box.cli(["explain", "good.add"])).out;
    expect(kept).toMatch(/deferred +no: `alwaysLoad` keeps it .*, alwaysLoad\[0\]  .*config\.json:\d+/);
    box.write(user, config(false));
    expect((await box.cli(["explain", "good.echo"])).out).toMatch(
      /deferred +no: `toolSearch` is false, toolSearch  .*config\.json:2/,
    );
    box.env["PLUGBOARD_TOOL_SEARCH"] = "true";
    box.write(user, config(undefined));
    expect((await box.cli(["explain", "good.echo"])).out).toMatch(
      /deferred +yes: `PLUGBOARD_TOOL_SEARCH` is true\n/,
    );
  });

  it("`tools` marks them, also those of one server", async () => {
    const box = createSandbox({ [user]: config(true) });
    for (const names of [[], ["good"]]) {
      const { out } = await box.cli(["tools", ...names]);
      expect(out).toMatch(/mcp__good__echo +\(deferred\) Returns its arguments/);
      expect(out).toMatch(/mcp__good__add +Adds a and b/);
      expect(out).toContain("Models search for deferred tools: `toolSearch` is true.");
    }
    const { tools } = (await box.cli(["tools", "--json"])).json as {
      tools: { name: string; deferred?: true }[];
    };
    expect(tools.filter(({ deferred }) => !deferred).map(({ name }) => name)).toEqual(["add"]);
  });

  it("a variable that cannot be read is ignored with a warning", async () => {
    const box = createSandbox({ [user]: config(undefined) });
    box.env["ENABLE_TOOL_SEARCH"] = "sometimes";
    const { err } = await box.cli(["tools"]);
    expect(err).toContain("ENABLE_TOOL_SEARCH is ignored: expected auto, auto:N");
  });
});
