import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { Workspace } from "../../src/config.ts";
import { createHub } from "../../src/index.ts";
import type { Approval } from "../../src/index.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";
import { commandLine } from "../command-line.ts";

const user = "home/.config/plugboard/config.json";
const write = {
  name: "write_file",
  title: "Write a file",
  inputSchema: { type: "object", properties: { path: { type: "string" }, content: { type: "string" } } },
};

const approval = {
  default: "prompt",
  rules: [
    { tools: "write_*", when: { "/path": "docs/*" }, mode: "approve" },
    { when: { "/path": "/etc/*" }, mode: "deny" },
  ],
};

function setUp(tool: object = write, settings: object = {}): Sandbox {
  const servers = { files: { ...fakeStdio({ tools: [{ ...write, ...tool }] }), approval } };
  return createSandbox({ [user]: { mcpServers: servers, ...settings } });
}

const call = ["call", "write_file", "path=a.txt"];

describe("M60 approvals on the command line", () => {
  it("asks with the call, the rule and what always covers, and remembers the answer for later commands", async () => {
    const box = setUp();
    const first = await box.cli(call, { forms: ["always"] });
    expect(first).toMatchObject({ code: 0, err: "" });
    const shown = first.asked.join("\n");
    expect(shown).toContain(
      "write_file of files (Write a file)\nEffects: not stated\nArguments:\n  path  a.txt\n",
    );
    expect(shown).toContain(`Rule: approval.default in ${box.path(user)}:`);
    expect(shown).toContain(
      'Always would cover write_file of "files" with any arguments, until you revoke it or the server or the tool changes.',
    );
    expect(shown).toContain("Call it? [Yes, once|Yes, for this session|Yes, always|No|Cancel]");
    expect(await box.cli(["call", "write_file", "path=b.txt"])).toMatchObject({ code: 0 });
    expect(await box.cli(["call", "write_file", "path=/etc/x"])).toMatchObject({
      code: 7,
      err: expect.stringMatching(
        /the configuration denies it\.\n.*plugboard explain mcp__files__write_file/,
      ) as string,
    });
  });

  it("lists what is remembered, and forgets it by id, by server and all at once", async () => {
    const box = setUp();
    expect(await box.cli(["approvals", "list"])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^No answers are remembered\./) as string,
    });
    await box.cli(call, { forms: ["always"] });
    const listed = await box.cli(["approvals", "list", "--json"]);
    expect(listed.json).toMatchObject({
      remembered: [{ server: "files", tool: "write_file", remembered: "always" }],
    });
    const [{ id } = { id: "" }] = listed.json["remembered"] as { id: string }[];
    expect((await box.cli(["approvals", "list"])).out).toMatch(
      new RegExp(
        `ID .*\\n${id} +\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d +write_file of "files" with any arguments +yes\\n`,
      ),
    );
    expect((await box.cli(["approvals", "revoke", id])).out).toBe(
      `Revoked ${id}: write_file of "files" with any arguments\n`,
    );
    expect(await box.cli(["approvals", "revoke", id])).toMatchObject({
      code: 2,
      err: expect.stringContaining(`There is no remembered answer "${id}"`) as string,
    });
    expect(await box.cli(call)).toMatchObject({ code: 7 });
    await box.cli(call, { forms: ["always"] });
    expect((await box.cli(["approvals", "revoke", "files", "--json"])).json).toMatchObject({
      revoked: [{ id }],
    });
    expect((await box.cli(["approvals", "revoke", "files"])).out).toBe(
      'No answer about the server "files" was remembered.\n',
    );
    await box.cli(call, { forms: ["always"] });
    expect((await box.cli(["approvals", "revoke", "--all"])).code).toBe(0);
    expect(await box.cli(call)).toMatchObject({ code: 7 });
    for (const words of [[], ["files", "--all"]])
      expect(await box.cli(["approvals", "revoke", ...words])).toMatchObject({
        code: 2,
        err: expect.stringContaining("Name an answer or a server, or use --all.") as string,
      });
  });

  it("asks again when the server's program changed, and says why", async () => {
    const box = setUp();
    await box.cli(call, { forms: ["always"] });
    const servers = { files: { ...fakeStdio({ tools: [{ ...write, description: "Other." }] }), approval } };
    box.write(user, { mcpServers: servers });
    const again = await box.cli(call, { forms: ["once"] });
    expect(again.asked.join("\n")).toMatch(
      /\nNote: it was allowed always on .*, but the configuration of the server has changed since\.\n/,
    );
    expect((await box.cli(["approvals", "list"])).out).toContain(
      "the configuration of the server has changed",
    );
  });

  it("revokes in one process what another one uses, within a second", async () => {
    const box = setUp();
    await using workspace = await Workspace.open(box.options);
    const config = await workspace.load();
    const answers: Approval[] = [{ decision: "allow", remember: "always" }];
    const interact = { approve: async () => answers.shift() ?? { decision: "deny" as const } };
    let now = Date.now();
    const options = { ...(await workspace.hubOptions(config)), interact, clock: () => now };
    await using hub = await createHub(config, options);
    await hub.callTool("files.write_file", { path: "a" });
    await hub.callTool("files.write_file", { path: "b" });
    const run = promisify(execFile)(process.execPath, [commandLine, "approvals", "revoke", "files"], {
      cwd: box.project,
      env: box.env,
    });
    expect((await run).stdout).toContain("Revoked a_");
    now += 1_001;
    await expect(hub.callTool("files.write_file", { path: "c" })).rejects.toMatchObject({
      code: "approval-denied",
    });
  });

  it("keeps servers of the same name in two projects apart", async () => {
    const box = createSandbox();
    const server = { ...fakeStdio({ tools: [write] }), approval: "prompt" };
    for (const place of ["one", "two"]) {
      box.write(`home/${place}/plugboard.json`, { mcpServers: { files: server } });
      const config = ["--config", box.path(`home/${place}/plugboard.json`)];
      expect(await box.cli([...call, ...config])).toMatchObject({ code: 7 });
      expect(await box.cli([...call, ...config], { forms: ["always"] })).toMatchObject({ code: 0 });
    }
    for (const place of ["one", "two"])
      expect(await box.cli([...call, "--config", box.path(`home/${place}/plugboard.json`)])).toMatchObject({
        code: 0,
      });
    const listed = await box.cli(["approvals", "list", "--config", box.path("home/two/plugboard.json")]);
    expect(listed.out).toMatch(
      /any arguments +it is about the server in .*home\/one\n.*any arguments +yes\n/s,
    );
  });

  it("says so when always cannot be kept, and cannot list answers that cannot be read", async () => {
    const box = setUp();
    box.write("blocked", "a file");
    Object.assign(box.folders, { state: box.path("blocked/state") });
    const run = await box.cli(call, { forms: ["always"] });
    expect(run.code).toBe(0);
    expect(run.err).toMatch(
      /Your answer holds until this program ends, because it could not be stored \(.*\)\.\n/,
    );
    expect(await box.cli(["approvals", "list"])).toMatchObject({ code: 5 });
    expect(await box.cli(["approvals", "revoke", "--all"])).toMatchObject({ code: 5 });
  });

  it("keeps answers in the user's state, not in a store of the configuration", async () => {
    const box = setUp({}, { store: "memory" });
    await box.cli(call, { forms: ["always"] });
    expect(await box.cli(call)).toMatchObject({ code: 0 });
  });

  it("explains whether a call is asked about, by which rule, conditions and answers", async () => {
    const box = setUp();
    await box.cli(["tools"]);
    const place = box.path(user).replaceAll(".", "\\.");
    const before = await box.cli(["explain", "write_file"]);
    expect(before.out).toMatch(
      new RegExp(
        `approval  prompt, from ${place}:\\d+: a call is asked about, because the configuration requires approval, unless a condition below holds\\n`,
      ),
    );
    expect(before.out).toMatch(
      new RegExp(`if +/path matches docs/\\*: approve {2}approval\\.rules\\[0\\] {2}${place}:\\d+\\n`),
    );
    expect(before.out).toMatch(/if +\/path matches \/etc\/\*: deny {2}approval\.rules\[1\]/);
    await box.cli(call, { forms: ["always"] });
    const after = await box.cli(["explain", "write_file"]);
    expect(after.out).toMatch(/a call is not asked about, because an earlier answer allows it \(a_\w{16}\)/);
    expect(after.out).toMatch(
      /answered  always \(a_\w{16}, .*\): write_file of "files" with any arguments\n/,
    );
    expect((await box.cli(["explain", "write_file", "--json"])).json).toMatchObject({
      approval: {
        outcome: "approved",
        conditions: [{ mode: "approve" }, { mode: "deny" }],
        remembered: [{}],
      },
    });
  });

  it("explains a rule of the managed policy, and asks by it", async () => {
    const box = createSandbox({ [user]: { mcpServers: { files: fakeStdio({ tools: [write] }) } } });
    box.write("managed/managed.json", { approval: { tools: { "write_*": "prompt" } } });
    const run = await box.cli(call, { forms: ["once"] });
    const shown = run.asked.join("\n");
    expect(shown).toContain("Asked because the managed policy requires approval.");
    expect(shown).toContain(`Rule: approval.tools["write_*"] in ${box.path("managed/managed.json")}:4`);
    expect(shown).toContain("[Yes, once|Yes, for this session|No|Cancel]");
    expect((await box.cli(["explain", "write_file"])).out).toMatch(
      /approval  prompt, from .*managed\.json:4: a call is asked about/,
    );
  });

  it("cancels with its own exit code, and sends nothing", async () => {
    const box = setUp();
    for (const forms of [["cancel"], [undefined]])
      expect(await box.cli(call, { forms })).toMatchObject({
        code: 130,
        out: "",
        err: expect.stringContaining("Cancelled. The tool was not called.") as string,
      });
  });

  it("escapes what servers and arguments contain, and bounds what it shows", async () => {
    const box = setUp({ title: "T\u001b[2J" });
    const lines = Array.from({ length: 500 }, (_, index) => `line ${index}`).join("\n");
    const args = JSON.stringify({ path: `a${"b".repeat(2_000)}\u202e`, content: lines });
    const run = await box.cli(["call", "write_file", args], { forms: ["deny"] });
    const shown = run.asked.join("\n");
    // eslint-disable-next-line no-control-regex
    expect(shown).not.toMatch(/[\u001b\u202e]/);
    expect(shown).toMatch(/│ ab+\n(.*\n)+? +… 1\d more lines, about 1,\d{3} characters\n/);
    expect(shown).toMatch(/│ line 0\n(.*\n)+? +… 4\d\d more lines, about \d,\d{3} characters\n/);
    expect(shown).toContain("│ line 499");
    expect(shown.length).toBeLessThan(4_000);
  });
});
