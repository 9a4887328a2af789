import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Interrupted } from "../../src/cli/terminal/signals.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import type { Script } from "../fixtures/fake/index.ts";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";
import { startServing } from "./serving.ts";

const user = "home/.config/plugboard/config.json";
const token = "mzQ8vX2kLp09RtYwBn4cTh7e";
const echo = { name: "echo", inputSchema: { type: "object" } };
/** What a terminal must never see: a screen erased, and a line without an end. */
const binary = Buffer.from([0, 7, 27, 91, 50, 74, 0xe2, 0x80, 0xae, 200, 255, 10]).toString("base64");

const servers = {
  failing: { start: [{ raw: `Error: no key ${token}\n`, to: "stderr" }, { exit: 3 }] },
  chatty: {
    tools: [echo],
    start: [{ raw: { repeat: "one more line\n", times: 3_000 }, to: "stderr" }],
    on: [
      {
        when: { tool: "echo" },
        do: [
          ...Array.from({ length: 300 }, (_, at) => ({
            notify: { method: "notifications/message", params: { level: "warning", data: `said ${at}` } },
          })),
          { default: true as const },
        ],
      },
    ],
    versions: "legacy",
  },
  spitting: {
    tools: [echo],
    start: [{ raw: { base64: binary } }, { raw: { base64: binary }, to: "stderr" }],
  },
} satisfies Record<string, Script>;

function setUp(): Sandbox {
  const entries = Object.entries(servers).map(([name, script]) => [
    name,
    { ...fakeStdio(script), env: { API_TOKEN: token } },
  ]);
  return createSandbox({ [user]: { mcpServers: Object.fromEntries(entries) as object } });
}

const folder = (box: Sandbox) => join(box.folders.state, "logs");

function logLines(out: string): { source: string; level: string; message: string }[] {
  return out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { source: string; level: string; message: string });
}

describe("M23 plugboard logs", () => {
  it("shows why a failing server failed, without its secrets, in a file that only the user can read", async () => {
    const box = setUp();
    await box.cli(["call", "failing.x"]);
    const { code, out } = await box.cli(["logs", "failing"]);
    expect(code).toBe(0);
    expect(out).toMatch(/──\s+starting\n.*stderr\s+Error: no key \(hidden\)\n.*exited with code 3/s);
    const [file = ""] = readdirSync(folder(box));
    expect(statSync(join(folder(box), file)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder(box), file), "utf8")).not.toContain(token);
  });

  it("bounds what a chatty server says, on disk and in lines a second", async () => {
    const box = setUp();
    for (let run = 0; run < 3; run++) await box.cli(["call", "chatty.echo"]);
    const lines = logLines((await box.cli(["logs", "chatty", "--json", "--lines", "100000"])).out);
    expect(lines.filter(({ message }) => message === "starting")).toHaveLength(3);
    expect(lines.some(({ source, level }) => source === "notification" && level === "warning")).toBe(true);
    expect(lines.some(({ message }) => /^… \d+ more lines/.test(message))).toBe(true);
    expect(lines.length).toBeLessThan(1_500);
    expect((await box.cli(["logs", "chatty", "-n", "5"])).out.split("\n")).toHaveLength(7);
  });

  it("escapes what a server spits out, and tells stdout from stderr", async () => {
    const box = setUp();
    const run = await box.cli(["call", "spitting.echo", "--verbose"]);
    expect(run.code).toBe(0);
    const { out } = await box.cli(["logs", "spitting"]);
    for (const text of [run.err, out]) {
      expect(text).not.toContain("\u001b");
      expect(text).toMatch(/stdout\s.*\\u\{1b\}\[2J\\u\{202e\}/);
      expect(text).toMatch(/stderr\s.*\\u\{1b\}\[2J/);
    }
  });

  it("follows what other processes record, until Ctrl-C", async () => {
    const box = setUp();
    await box.cli(["call", "failing.x"]);
    const stop = new AbortController();
    const seen = Promise.withResolvers<void>();
    let starts = 0;
    const following = box.cli(["logs", "failing", "--follow", "--json"], {
      signal: stop.signal,
      onOut: (out) => {
        starts = out.split('"starting"').length - 1;
        if (starts === 2 && out.split("exited with code").length > 2) seen.resolve();
      },
    });
    await box.cli(["call", "failing.x"]);
    await seen.promise;
    stop.abort(new Interrupted("SIGINT"));
    expect((await following).code).toBe(130);
    expect(starts).toBe(2);
  });

  it("records what is served, too", async () => {
    const box = setUp();
    const serving = await startServing(box);
    await serving.logs(/failing .*code 3/);
    await serving.stop();
    expect((await box.cli(["logs", "failing"])).out).toContain("Error: no key (hidden)");
    expect((await box.cli(["logs", "spitting"])).out).toContain("connected");
  });

  it("says that nothing is recorded, and knows only configured servers", async () => {
    const box = setUp();
    expect(await box.cli(["logs", "chatty"])).toMatchObject({
      code: 0,
      err: 'There are no logs of "chatty" yet.\n',
    });
    const wrong = await box.cli(["logs", "chaty"]);
    expect([wrong.code, wrong.err]).toEqual([4, expect.stringContaining('Did you mean "chatty"?')]);
  });
});

describe("M23 --trace", () => {
  it("shows every message of a call in readable lines on standard error, and the result on standard output", async () => {
    const box = setUp();
    const { code, out, err } = await box.cli(["call", "chatty.echo", "word=hi", "--trace"]);
    expect([code, out]).toEqual([0, "word  hi\n"]);
    expect(err).toMatch(/^\d\d:\d\d:\d\d\.\d{3} {2}chatty → initialize p\d+ \{.*\}$/m);
    expect(err).toMatch(/^.* chatty ← initialize p\d+ {2}\d+ ms {2}\{.*\}$/m);
    expect(err).toMatch(/chatty → tools\/call p\d+ .*"arguments":\{"word":"hi"\}/);
    expect(err.match(/← notifications\/message/g)).toHaveLength(300);
  });

  it("prints JSON lines, or writes them to a file that only the user can read", async () => {
    const box = setUp();
    const { err } = await box.cli(["tools", "spitting", "--trace=json"]);
    const kinds = err
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => (JSON.parse(line) as { kind: string }).kind);
    expect(kinds).toEqual(expect.arrayContaining(["opened", "sent", "received", "skipped", "closed"]));
    expect(err).not.toContain("\u001b");
    const run = await box.cli(["call", "spitting.echo", "--trace=trace.jsonl"]);
    expect([run.code, run.err]).toEqual([0, ""]);
    expect(statSync(box.path("project/trace.jsonl")).mode & 0o777).toBe(0o600);
    expect(box.read("project/trace.jsonl")).toContain('"tools/call"');
    expect(await box.cli(["tools", "--trace=no/such/folder/x"])).toMatchObject({ code: 2 });
  });

  it("shows how a failing server failed, without its secrets", async () => {
    const box = setUp();
    const { code, err } = await box.cli(["status", "failing", "--trace", "--verbose"]);
    expect(code).not.toBe(0);
    expect(err).toMatch(/failing · closed: .*exited with code 3/);
    expect(err).toContain("Error: no key (hidden)");
    expect(err).not.toContain(token);
  });
});

describe("M44 plugboard request", () => {
  it("prints a server's answer, and its error with exit code 1", async () => {
    const box = setUp();
    expect((await box.cli(["request", "chatty", "ping"])).json).toBeTypeOf("object");
    const read = await box.cli(["request", "chatty", "resources/list", "--json"]);
    expect(read.json).toMatchObject({ result: { resources: expect.any(Array) as unknown } });
    const wrong = await box.cli(["request", "chatty", "no/such", "a=1"]);
    expect(wrong).toMatchObject({ code: 1, out: "" });
    expect(wrong.err).toContain('"chatty" answered with error -32601: Method not found');
    const asJson = await box.cli(["request", "chatty", "no/such", "--json"]);
    expect(asJson.json).toMatchObject({ error: { code: -32_601 } });
    expect(asJson.code).toBe(1);
  });

  it("reads parameters like call does, and sends notifications", async () => {
    const box = setUp();
    const listed = await box.cli(["request", "chatty", "resources/list", "--json"]);
    const [first] = (listed.json["result"] as { resources: { uri: string }[] }).resources;
    const uri = first?.uri ?? "";
    for (const params of [[`uri=${uri}`], [JSON.stringify({ uri })]])
      expect((await box.cli(["request", "chatty", "resources/read", ...params])).json).toHaveProperty(
        "contents",
      );
    const told = await box.cli(["request", "chatty", "notifications/x/y", "a=1", "--trace"]);
    expect(told.err).toMatch(/→ notifications\/x\/y \{"a":1\}/);
    expect(told.err).toContain("notifications have no answer");
  });

  it("refuses what the rules are for, and names the command that follows them", async () => {
    const box = setUp();
    const called = await box.cli(["request", "chatty", "tools/call", "name=echo"]);
    expect([called.code, called.out]).toEqual([2, ""]);
    expect(called.err).toContain("plugboard call chatty.<tool>");
    for (const method of ["Tools/Call", "tools/call/", "tasks/cancel", "notifications/tools/call"]) {
      const { code, out, err } = await box.cli(["request", "chatty", method, "name=echo"]);
      expect([code, out]).toEqual([2, ""]);
      expect(err).toContain(method);
    }
    await box.cli(["lock", "chatty", "--yes"]);
    const listed = await box.cli(["request", "chatty", "tools/list"]);
    expect([listed.code, listed.err]).toEqual([2, expect.stringContaining("plugboard tools chatty")]);
  });

  it("reports a server that fails like every other command", async () => {
    const box = setUp();
    const { code, err } = await box.cli(["request", "failing", "ping"]);
    expect(code).not.toBe(0);
    expect(err).toContain("exited with code 3");
    expect(await box.cli(["request", "chatty"])).toMatchObject({ code: 2 });
  });
});
