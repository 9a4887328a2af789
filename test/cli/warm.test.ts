import {
  chmodSync,
  existsSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { fakeStdio, readFakeLog } from "../fixtures/fake/index.ts";
import { isAlive, programPath, until } from "../servers/stdio-fixture.ts";
import { gone, parentOf, warmScene } from "./warm-fixture.ts";

const fixture = programPath("counting.mjs");
const read = (path: string) => readFile(path, "latin1");
const socketIn = (folder: string) =>
  join(folder, readdirSync(folder).find((name) => name.endsWith(".sock")) ?? "");

describe("M45 a server that stays for the next command", () => {
  it("is not started again, and its requests have ids that no earlier command used", async () => {
    const { call, starts } = warmScene();
    const pids = [await call("pid"), await call("pid"), await call("pid")];
    expect(new Set(pids)).toEqual(new Set([String(starts()[0])]));
    expect(starts()).toHaveLength(1);
    const ids = (await call("ids")).split(" ");
    expect(new Set(ids).size).toBe(4);
  });

  it.each(["legacy", "modern"] as const)("shakes hands only once: %s", async (versions) => {
    const { sandbox, configure, log } = warmScene();
    configure(fakeStdio({ log, versions }));
    for (const text of ["one", "two"])
      expect((await sandbox.cli(["call", "counting.echo", `text=${text}`])).out).toContain(text);
    const seen = readFakeLog(log);
    const received = seen.flatMap((line) => (line.event === "received" ? [line.line] : []));
    expect(seen.filter(({ event }) => event === "start")).toHaveLength(1);
    expect(received.filter((line) => line.includes('"tools/call"'))).toHaveLength(2);
    expect(received.filter((line) => line.includes('"initialize"'))).toHaveLength(
      versions === "legacy" ? 1 : 0,
    );
  });

  it("does not stay unless it is configured, and never with a connection for each call", async () => {
    const { call, starts, configure, folder } = warmScene();
    configure({}, {});
    await call("pid");
    configure({ isolation: "call" });
    await call("pid");
    configure({ keepWarm: 0 });
    await call("pid");
    expect(starts().length).toBeGreaterThanOrEqual(3);
    expect(starts().filter(isAlive)).toEqual([]);
    expect(existsSync(folder)).toBe(false);
  });

  it("is shown by `status` and ended by `stop`, which waits until it is gone", async () => {
    const { sandbox, call } = warmScene();
    const pid = Number(await call("pid"));
    const status = await sandbox.cli(["status", "--json"]);
    expect(status.json["warm"]).toEqual([
      expect.objectContaining({ server: "counting", pid, uses: 1, endsAt: expect.any(Number) as number }),
    ]);
    const shown = await sandbox.cli(["status"]);
    expect(shown.out).toMatch(new RegExp(`counting {2}process ${pid}, started .* ago, ends in `));
    expect(await sandbox.cli(["stop", "counting"])).toMatchObject({
      code: 0,
      out: `Ended counting (process ${pid}).\n`,
    });
    expect(isAlive(pid)).toBe(false);
    expect(await sandbox.cli(["stop"])).toMatchObject({ code: 0, out: "No servers are kept running.\n" });
    expect(await sandbox.cli(["stop", "nobody"])).toMatchObject({ code: 4 });
  });

  it("is ended by `stop`, and reported, even if another name is wrong", async () => {
    const { sandbox, call } = warmScene();
    const pid = Number(await call("pid"));
    const { code, out, err } = await sandbox.cli(["stop", "counting", "nobody"]);
    expect({ code, out }).toEqual({ code: 4, out: `Ended counting (process ${pid}).\n` });
    expect(err).toContain("nobody");
    const again = Number(await call("pid"));
    const { json } = await sandbox.cli(["stop", "counting", "nobody", "--json"]);
    expect(json["error"]).toMatchObject({ code: "server-unknown", data: { ended: [{ pid: again }] } });
  });

  it("ends when nobody used it for that long, and the broker with it", async () => {
    const { call, folder } = warmScene({ keepWarm: 500 });
    const pid = Number(await call("pid"));
    const broker = isAlive(pid) ? parentOf(pid) : 0;
    await gone(pid);
    if (broker > 1) await gone(broker, "the broker");
    await until(() => readdirSync(folder).length === 0, "the socket is removed");
  });

  it("is used by one command at a time: the second one gets its own", async () => {
    const { sandbox, call, starts, lines } = warmScene();
    const first = Number(await call("pid"));
    const stop = new AbortController();
    const hanging = sandbox.cli(["call", "counting.hang"], { signal: stop.signal });
    await until(() => lines().includes("hang"), "the first command has the server");
    const second = Number(await call("pid"));
    expect(second).not.toBe(first);
    const { json } = await sandbox.cli(["stop", "--json"]);
    expect(json["inUse"]).toEqual([expect.objectContaining({ pid: first })]);
    expect(json["ended"]).toEqual([expect.objectContaining({ pid: second })]);
    stop.abort(new Error("enough"));
    await hanging;
    expect(starts().filter(isAlive)).toEqual([]);
  });

  it.each([
    ["a call that got no answer in time", ["hang", "--timeout", "0.3"]],
    ["a question of the server", ["ask"]],
  ])("does not stay after %s", async (_, [tool = "", ...options]) => {
    const { sandbox, starts } = warmScene();
    await sandbox.cli(["call", `counting.${tool}`, ...options]);
    expect(starts()).toHaveLength(1);
    expect(starts().filter(isAlive)).toEqual([]);
  });
});

describe("M45 a warm server is the configured one", () => {
  it("another environment, argument, folder or program means another start", async () => {
    const { call, configure, starts, sandbox, log } = warmScene();
    const program = sandbox.write("home/server.mjs", `import ${JSON.stringify(fixture)};\n`);
    const args = [program, log];
    const changes = [
      { args },
      { args, env: { TOKEN: "one" } },
      { args, env: { TOKEN: "two" } },
      { args: [...args, "more"] },
      { args, cwd: sandbox.home },
    ];
    for (const change of changes) {
      configure(change);
      await call("pid");
    }
    configure(changes.at(-1));
    await call("pid");
    expect(starts()).toHaveLength(changes.length);
    await until(
      () => starts().filter(isAlive).length === 4,
      "an entry that is edited often does not leave many",
    );
    writeFileSync(program, `import ${JSON.stringify(fixture)};\n// edited\n`);
    await call("pid");
    expect(starts()).toHaveLength(changes.length + 1);
  });

  it("a command found on PATH that changed, or is another file there now, means another start", async () => {
    const { call, configure, starts, sandbox, log } = warmScene();
    const script = (interpreter: string) => `#!${interpreter}\nimport ${JSON.stringify(fixture)};\n`;
    const program = (path: string, text: string) => {
      const written = sandbox.write(path, text);
      chmodSync(written, 0o755);
      return written;
    };
    const server = program("home/bin/my-server", script("/usr/bin/env my-node"));
    const interpreter = program("home/bin/my-node", `#!/bin/sh\nexec ${process.execPath} "$@"\n`);
    const path = [sandbox.path("home/first"), sandbox.path("home/bin"), "/usr/bin", "/bin"].join(":");
    configure({ command: "my-server", args: [log], env: { PATH: path } });
    const isStartedAgain = async () => {
      const before = starts().length;
      await call("pid");
      return starts().length > before;
    };
    expect(await isStartedAgain()).toBe(true);
    expect(await isStartedAgain()).toBe(false);
    // Replaced by another file of the same size and time, as package managers do.
    const { atimeMs, mtimeMs } = statSync(server);
    writeFileSync(`${server}.new`, readFileSync(server));
    chmodSync(`${server}.new`, 0o755);
    utimesSync(`${server}.new`, atimeMs / 1_000, mtimeMs / 1_000);
    renameSync(`${server}.new`, server);
    expect(await isStartedAgain()).toBe(true);
    writeFileSync(interpreter, `#!/bin/sh\nexec ${process.execPath}  "$@"\n`);
    expect(await isStartedAgain()).toBe(true);
    // Another program of that name that is found first.
    sandbox.write("home/first/other", "");
    symlinkSync(server, sandbox.path("home/first/my-server"));
    expect(await isStartedAgain()).toBe(true);
    expect(await isStartedAgain()).toBe(false);
  });

  it("a program that `env` finds on PATH, or that changed in place with its size and time, means another start", async () => {
    const { call, configure, starts, sandbox, log } = warmScene();
    const server = sandbox.write(
      "home/bin/my-server",
      `#!${process.execPath}\nimport ${JSON.stringify(fixture)};\n// a\n`,
    );
    chmodSync(server, 0o755);
    const path = [sandbox.path("home/bin"), "/usr/bin", "/bin"].join(":");
    configure({ command: "env", args: ["X=1", "my-server", log], env: { PATH: path } });
    await call("pid");
    await call("pid");
    expect(starts()).toHaveLength(1);
    const { atimeMs, mtimeMs } = statSync(server);
    writeFileSync(server, readFileSync(server, "utf8").replace("// a", "// b"));
    utimesSync(server, atimeMs / 1_000, mtimeMs / 1_000);
    await call("pid");
    expect(starts()).toHaveLength(2);
  });

  it("gets its own environment, and the broker nothing of it", async () => {
    const { call, configure, sandbox } = warmScene();
    sandbox.env = { ...sandbox.env, SECRET_OF_MINE: "canary-1" };
    configure({ env: { TOKEN: "canary-2" } });
    const env = JSON.parse(await call("env")) as Record<string, string>;
    expect(env).toMatchObject({ TOKEN: "canary-2", HOME: sandbox.home });
    expect(env["SECRET_OF_MINE"]).toBeUndefined();
    expect(env["PLUGBOARD_OWNER"]).toMatch(/^[0-9a-f-]{36}\.1$/);
    const broker = parentOf(Number(await call("pid")));
    for (const part of ["environ", "cmdline"])
      expect(await read(`/proc/${broker}/${part}`)).not.toContain("canary");
  });

  it("ends when it is removed, disabled or no longer trusted", async () => {
    const { sandbox, call, configure, log } = warmScene();
    const disabled = Number(await call("pid"));
    await sandbox.cli(["disable", "counting"]);
    expect(isAlive(disabled)).toBe(false);
    configure();
    const removed = Number(await call("pid"));
    await sandbox.cli(["remove", "counting"]);
    expect(isAlive(removed)).toBe(false);
    const entry = { command: process.execPath, args: [fixture, log], keepWarm: 60_000 };
    sandbox.write("project/.mcp.json", { mcpServers: { counting: entry } });
    await sandbox.cli(["trust", "counting", "--yes"]);
    const trusted = Number(await call("pid"));
    expect(isAlive(trusted)).toBe(true);
    await sandbox.cli(["trust", "counting", "--revoke"]);
    expect(isAlive(trusted)).toBe(false);
    expect((await sandbox.cli(["call", "counting.pid"])).code).not.toBe(0);
  });

  it("ends when a secret that it was started with changes, and no other does", async () => {
    const { sandbox, call, configure } = warmScene();
    sandbox.env = { ...sandbox.env, FIRST: "value one", SECOND: "value two" };
    const set = (name: string, variable: string) =>
      sandbox.cli(["secret", "set", name, "--from-env", variable]);
    expect((await set("TOKEN", "FIRST")).code).toBe(0);
    configure({ env: { TOKEN: "${secret:TOKEN}" } });
    const first = Number(await call("pid"));
    await set("OTHER", "SECOND");
    expect(isAlive(first)).toBe(true);
    await set("TOKEN", "SECOND");
    expect(isAlive(first)).toBe(false);
    const second = Number(await call("pid"));
    await sandbox.cli(["secret", "remove", "TOKEN"]);
    expect(isAlive(second)).toBe(false);
  });

  it("is not the one of a folder that was deleted and created again", async () => {
    const { sandbox, call, configure } = warmScene();
    const cwd = dirname(sandbox.write("home/work/file", ""));
    configure({ cwd });
    const first = await call("pid");
    rmSync(cwd, { recursive: true });
    sandbox.write("home/work/file", "");
    expect(await call("pid")).not.toBe(first);
  });

  it("stays only if the user says so: a project's file cannot decide it for all", async () => {
    const { sandbox, configure, call, starts } = warmScene();
    configure({}, {});
    sandbox.write("project/plugboard.json", { keepWarm: 60_000 });
    await sandbox.cli(["trust", "--yes"]);
    await call("pid");
    expect(starts().filter(isAlive)).toEqual([]);
    const { out } = await sandbox.cli(["config", "validate"]);
    expect(out).toMatch(/keepWarm.*a project cannot choose what stays running/s);
  });
});

describe("M25 a warm server that misbehaves between commands is ended", () => {
  const notification = (method: string) => JSON.stringify({ jsonrpc: "2.0", method, params: {} });
  it.each([
    ["text", "no message at all"],
    ["a question", JSON.stringify({ jsonrpc: "2.0", id: 1, method: "roots/list" })],
    ["an answer to nothing", JSON.stringify({ jsonrpc: "2.0", id: 7, result: {} })],
    ["a changed list", notification("notifications/tools/list_changed")],
  ])("if it sends %s", async (_, GARBAGE) => {
    const { call, starts } = warmScene({ env: { GARBAGE } });
    const pid = Number(await call("pid"));
    process.kill(pid, "SIGUSR2");
    await gone(pid);
    expect(Number(await call("pid"))).not.toBe(pid);
    expect(starts()).toHaveLength(2);
  });

  it("but a log message for nobody is only dropped", async () => {
    const { call } = warmScene({ env: { GARBAGE: notification("notifications/message") } });
    const pid = await call("pid");
    process.kill(Number(pid), "SIGUSR2");
    expect(await call("pid")).toBe(pid);
  });

  it("if it does not answer, the next command gets another one", async () => {
    const { call } = warmScene();
    const pid = Number(await call("pid"));
    process.kill(pid, "SIGSTOP");
    expect(Number(await call("pid"))).not.toBe(pid);
    await gone(pid);
  });
});

describe("M45 where nothing can be kept warm, commands work as before and say why", () => {
  it.each([
    ["others can enter the folder", (folder: string) => chmodSync(folder, 0o755), /chmod 700/],
    ["others can write to the socket", (folder: string) => chmodSync(socketIn(folder), 0o666), /chmod 600/],
  ])("%s", async (_, spoil, words) => {
    const { sandbox, call, starts, folder } = warmScene();
    await call("pid");
    expect([statSync(folder).mode & 0o777, statSync(socketIn(folder)).mode & 0o777]).toEqual([0o700, 0o600]);
    spoil(folder);
    const { code, out, err } = await sandbox.cli(["call", "counting.pid"]);
    expect({ code, out: out.trim() }).toEqual({ code: 0, out: String(starts()[1]) });
    expect(err).toMatch(/^warning: Servers are not kept warm: /);
    expect(err).toMatch(words);
    expect((await sandbox.cli(["doctor"])).out).toMatch(words);
    chmodSync(folder, 0o700);
    chmodSync(socketIn(folder), 0o600);
  });

  it("the folder is a link", async () => {
    const { sandbox, folder } = warmScene();
    sandbox.write("home/elsewhere/file", "");
    sandbox.write("home/.local/state/plugboard/file", "");
    symlinkSync(join(sandbox.home, "elsewhere"), folder);
    expect((await sandbox.cli(["call", "counting.pid"])).err).toMatch(/is not a folder/);
  });

  it("the path is too long for a socket", async () => {
    const { sandbox, starts } = warmScene();
    sandbox.folders.state = join(sandbox.home, "x".repeat(100));
    const { code, err } = await sandbox.cli(["call", "counting.pid"]);
    expect({ code, alive: starts().filter(isAlive) }).toEqual({ code: 0, alive: [] });
    expect(err).toMatch(/too long for a socket/);
  });

  it("a Plugboard that is a server of another one leaves nothing behind", async () => {
    const { sandbox, call, starts, folder } = warmScene();
    sandbox.env = { ...sandbox.env, PLUGBOARD_OWNER: "someone.1" };
    await call("pid");
    expect(starts().filter(isAlive)).toEqual([]);
    expect(existsSync(folder)).toBe(false);
  });

  it("a program that cannot be started is reported as without the broker", async () => {
    const { sandbox, configure } = warmScene();
    configure({ command: "no-such-program-of-ours" });
    const { code, err } = await sandbox.cli(["call", "counting.pid"]);
    expect(code).not.toBe(0);
    expect(err).toContain('the command "no-such-program-of-ours" was not found in any folder of PATH');
  });
});
