import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { PlugboardError } from "../../src/errors.ts";
import { serverEnvironment } from "../../src/servers/process/environment.ts";
import type { ServerProgram } from "../../src/servers/process/process-tree.ts";
import { StdioTransport } from "../../src/servers/transports/stdio/transport.ts";
import { nodeProgram, programPath, stdioFixture } from "./stdio-fixture.ts";
import { deaf, result } from "./rpc-fixture.ts";

const stdio = stdioFixture();

async function startError(program: Partial<ServerProgram>): Promise<PlugboardError> {
  const transport = new StdioTransport({
    processes: stdio.tree(),
    program: { server: "bad", command: "", ...program },
  });
  return await transport.start(deaf).then(
    () => {
      throw new Error("it started");
    },
    (error: PlugboardError) => error,
  );
}

async function script(text: string, mode = 0o755): Promise<string> {
  const path = join(await stdio.folder(), "run me");
  await writeFile(path, text);
  await chmod(path, mode);
  return path;
}

describe("M20 a stdio server is started as its configuration says", () => {
  it("gets its arguments unchanged, its folder, and no shell", async () => {
    const cwd = await stdio.folder();
    const args = ["a b", "$HOME", "*", ";", "`id`", "", "-x", "üñ"];
    const { transport, request } = await stdio.open({ ...nodeProgram("good.mjs", ...args), cwd });
    const seen = await result(request("environment"));
    expect(seen).toMatchObject({ argv: args, cwd, pid: transport.pid });
  });

  it("sees a minimal environment, what `env` sets and what `inheritEnv` names, and nothing else of ours", async () => {
    const env = {
      PATH: process.env["PATH"],
      HOME: "/home/me",
      LC_ALL: "C",
      SECRET: "s",
      AWS_KEY: "k",
      AWS_ID: "i",
      FN: "() { x; }",
    };
    const processes = stdio.tree({ env });
    const program = {
      ...nodeProgram("good.mjs"),
      env: { LEVEL: "1", HOME: "/else" },
      inheritEnv: ["AWS_*", "FN"],
    };
    const { request } = await stdio.open(program, { processes });
    const seen = await result(request("environment"));
    expect(seen["env"]).toEqual({
      PATH: env.PATH,
      HOME: "/else",
      LC_ALL: "C",
      AWS_KEY: "k",
      AWS_ID: "i",
      LEVEL: "1",
      PLUGBOARD_OWNER: expect.stringMatching(new RegExp(`^${processes.owner}\\.\\d+$`)),
    });
  });

  it("cannot change what it is told about the configurations that led to it", () => {
    const parent = { PLUGBOARD_CHAIN: "outer", PATH: "/bin", PLUGBOARD_APPROVAL_KEY: "not for servers" };
    const marks = { PLUGBOARD_CHAIN: "outer,mine" };
    const env = serverEnvironment({
      parent,
      env: { PLUGBOARD_CHAIN: "" },
      inheritEnv: ["*"],
      owner: "mine.1",
      marks,
    });
    expect(env).toMatchObject(marks);
    expect(env).not.toHaveProperty("PLUGBOARD_APPROVAL_KEY");
  });

  it("cannot change its owner marker", () => {
    const parent = { PLUGBOARD_OWNER: "outer.1", PATH: "/bin" };
    const env = serverEnvironment({
      parent,
      env: { PLUGBOARD_OWNER: "forged" },
      inheritEnv: ["*"],
      owner: "mine.1",
    });
    expect(env).toEqual({ PATH: "/bin", PLUGBOARD_OWNER: "mine.1" });
  });

  it("is found on its own PATH, skipping folders and files that are not executable", async () => {
    const root = await stdio.folder();
    const [first, second, third] = ["1", "2", "3"].map((name) => join(root, name)) as [
      string,
      string,
      string,
    ];
    await mkdir(join(first, "tool"), { recursive: true });
    await mkdir(second);
    await writeFile(join(second, "tool"), "", { mode: 0o644 });
    await mkdir(third);
    await symlink(process.execPath, join(third, "tool"));
    const env = { PATH: [join(root, "none"), first, second, third, dirname(process.execPath)].join(":") };
    const { request } = await stdio.open({
      server: "s",
      command: "tool",
      args: [programPath("good.mjs")],
      env,
    });
    expect(await result(request("echo", { n: 1 }))).toMatchObject({ n: 1 });
  });

  it("is found by a path relative to its own folder", async () => {
    const cwd = await stdio.folder();
    await symlink(process.execPath, join(cwd, "run"));
    const { request } = await stdio.open({
      server: "s",
      command: "./run",
      args: [programPath("good.mjs")],
      cwd,
    });
    expect(await result(request("ping"))).toEqual({});
  });
});

describe("M44 a program that cannot be started is explained", () => {
  it("names the command and the folders that were searched", async () => {
    const error = await startError({ command: "no-such-program", env: { PATH: "/usr/bin:/opt/nothing" } });
    expect(error).toMatchObject({
      code: "spawn-failed",
      server: "bad",
      data: { command: "no-such-program", searched: ["/usr/bin", "/opt/nothing"] },
    });
    expect(error.message).toContain('"no-such-program"');
    expect(error.message).toContain("/usr/bin:/opt/nothing");
  });

  it.each([
    ["a path that leads nowhere", { command: "/no/such/file" }, /\/no\/such\/file does not exist/],
    ["arguments inside the command", { command: "npx -y thing" }, /not found in any folder/],
    [
      "a missing working folder",
      { command: "sh", cwd: "/no/such/folder" },
      /working folder \/no\/such\/folder does not exist/,
    ],
    [
      "a working folder that is a file",
      { command: "sh", cwd: "/etc/passwd" },
      /\/etc\/passwd is not a folder/,
    ],
    ["a folder as command", { command: "/usr" }, /\/usr is a folder/],
    ["a NUL in an argument", { command: "sh", args: ["se\0cret"] }, /NUL/],
    ["a NUL in a variable", { command: "sh", env: { KEY: "se\0cret" } }, /variable KEY holds a NUL/],
    [
      "too many arguments",
      { command: "sh", args: Array.from({ length: 40 }, () => "x".repeat(120_000)) },
      /too long \(E2BIG\)/,
    ],
  ])("%s", async (_, program: Partial<ServerProgram>, message) => {
    const error = await startError(program);
    expect(error).toMatchObject({ code: "spawn-failed", message: expect.stringMatching(message) });
    expect(JSON.stringify([error, String(error.cause)])).not.toMatch(/cret/);
  });

  it("distinguishes a file that is not executable from a missing interpreter", async () => {
    const plain = await script("#!/bin/sh\n", 0o644);
    expect(await startError({ command: plain })).toMatchObject({
      message: expect.stringMatching(/is not executable/),
    });
    const orphan = await script("#!/no/such/interpreter -x\n");
    expect((await startError({ command: orphan })).message).toContain(
      'needs the interpreter "/no/such/interpreter"',
    );
    const windows = await script("#!/bin/sh\r\n");
    expect((await startError({ command: windows })).message).toContain("/bin/sh\\u{d}");
  });

  it("reports arguments in the wrong field", async () => {
    expect((await startError({ command: "npx -y thing" })).hint).toContain("`args`");
  });

  it("leaves nothing behind, and others can still start", async () => {
    const processes = stdio.tree();
    const failing = new StdioTransport({ processes, program: { server: "bad", command: "/no/such" } });
    await expect(failing.start(deaf)).rejects.toMatchObject({ code: "spawn-failed" });
    await failing.close();
    const { request } = await stdio.open(nodeProgram("good.mjs"), { processes });
    expect(await result(request("ping"))).toEqual({});
    expect(processes.size).toBe(1);
  });
});
