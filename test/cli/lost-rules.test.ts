import { describe, expect, it } from "vitest";
import { createHub, loadConfig } from "../../src/index.ts";
import { fakeStdio, readFakeLog } from "../fixtures/fake/index.ts";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";

const user = "home/.config/plugboard/config.json";
const brokenRule = '{\n  "approval": "deny"\n  "output": {}\n}';

/** Verbs that start or use servers. */
const using = [
  "call theirs.echo text=hi",
  "tools",
  "tools theirs",
  "resources",
  "prompts theirs",
  "read theirs fake://x",
  "prompt theirs.hello",
  "status",
  "login theirs",
  "serve --stdio",
];

/** A server of a trusted project, which the user's own file denies to call. */
async function denied(): Promise<{ box: Sandbox; log: string }> {
  const box = createSandbox({ [user]: { approval: "deny" } });
  const log = box.path("home/theirs.log");
  box.write("project/.mcp.json", { mcpServers: { theirs: fakeStdio({ log }) } });
  await box.cli(["trust", "theirs", "--yes"]);
  return { box, log };
}

describe("M30 a rule of the user's own is never lost without a word", () => {
  it.each([
    ["a file that cannot be parsed", brokenRule, "a comma is missing"],
    ["a file that is no object", "[]", "expected an object"],
    ["a rule with a mistake", { approval: { default: "dney" } }, "approval"],
    ["a rule whose name has a typo", { aproval: "deny" }, "unknown field `aproval`"],
    ["a mistake in how questions are answered", { elicitation: "declin" }, "elicitation"],
    ["servers that are no object", { mcpServers: [] }, "mcpServers: expected an object"],
  ])("because of %s: verbs that use servers refuse, and start none", async (_, content, mistake) => {
    const { box, log } = await denied();
    expect((await box.cli(["call", "theirs.echo", "text=hi"])).err).toContain("denie");
    const before = readFakeLog(log);
    box.write(user, content);
    const seen = await Promise.all(
      using.map(async (line) => {
        const { code, err } = await box.cli(line.split(" "));
        return [line, code, err.includes(`error: ${box.path(user)}`) && err.includes(mistake)];
      }),
    );
    expect(seen).toEqual(using.map((line) => [line, 3, true]));
    expect(readFakeLog(log)).toEqual(before);
  });

  it("in the local scope, a named file, and the environment's", async () => {
    const box = createSandbox({ [user]: { mcpServers: { mine: fakeStdio() } } });
    const named = box.write("named.json", brokenRule);
    expect(await box.cli(["tools", "--config", named, "--json"])).toMatchObject({
      code: 3,
      json: { error: { code: "config-unreadable", data: { file: named, line: 3 } } },
    });
    box.env["PLUGBOARD_CONFIG_JSON"] = '{ "approval": ';
    expect(await box.cli(["tools"])).toMatchObject({ code: 3, err: /PLUGBOARD_CONFIG_JSON/ });
    delete box.env["PLUGBOARD_CONFIG_JSON"];
    await box.cli(["add", "local", "--scope", "local", "--", "true"]);
    const { out } = await box.cli(["config", "path", "--json"]);
    const { sources } = JSON.parse(out) as { sources: { scope: string; file: string }[] };
    const file = sources.find(({ scope }) => scope === "local")?.file ?? "";
    box.write(file.slice(box.root.length + 1), "{");
    expect(await box.cli(["status"])).toMatchObject({
      code: 3,
      err: expect.stringContaining(file) as string,
    });
  });

  it("by verbs that only look: they show the mistake and the rest, and fail", async () => {
    const { box } = await denied();
    box.write(user, brokenRule);
    const looking = ["list", "get theirs", "explain theirs", "config show"];
    for (const line of looking) {
      const { code, err, out } = await box.cli(line.split(" "));
      expect([line, code]).toEqual([line, 3]);
      expect(err).toContain("a comma is missing");
      expect(out).toContain("theirs");
    }
    expect(await box.cli(["config", "validate"])).toMatchObject({ code: 3, out: /a comma is missing/ });
    const doctor = await box.cli(["doctor", "--connect"]);
    expect(doctor).toMatchObject({ code: 3, out: /a comma is missing/ });
    expect(doctor.out).toContain("no server was connected");
  });

  it("by the library: a hub refuses such a configuration, and a running one keeps the old", async () => {
    const { box } = await denied();
    const good = await loadConfig(box.options);
    box.write(user, brokenRule);
    const bad = await loadConfig(box.options);
    await expect(createHub(bad)).rejects.toMatchObject({ code: "config-unreadable" });
    await using hub = await createHub(good);
    await expect(hub.reload(bad)).rejects.toMatchObject({ code: "config-unreadable" });
    expect(hub.config.settings.approval).toBe("deny");
    await using looking = await createHub(bad, { lostRules: "ignore", start: false });
    expect(looking.status()).toMatchObject([{ name: "theirs" }]);
  });
});

it("M30 a project's broken file does not keep the user's own servers from working", async () => {
  const box = createSandbox({
    [user]: { mcpServers: { mine: fakeStdio() } },
    "project/.mcp.json": "{ broken",
    "project/plugboard.json": { approval: "nonsense", mcpServers: [] },
  });
  expect(await box.cli(["tools", "mine"])).toMatchObject({ code: 0, out: /echo/ });
  expect(await box.cli(["call", "mine.echo", "text=hi"])).toMatchObject({ code: 0 });
});

it("M30 a mistake inside of one server's entry concerns only that server", async () => {
  const box = createSandbox({
    [user]: { mcpServers: { mine: fakeStdio(), wrong: { comand: "x", approval: "nonsense" } } },
  });
  expect(await box.cli(["call", "mine.echo", "text=hi"])).toMatchObject({ code: 0 });
  expect(await box.cli(["tools", "wrong"])).toMatchObject({ code: 3 });
});
