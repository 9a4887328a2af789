import { existsSync } from "node:fs";
import { mkdir, readFile, readlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { SandboxSetting } from "../../src/servers/process/sandbox.ts";
import { lacks } from "../machine.ts";
import { nodeProgram, processesWith, programPath, stdioFixture } from "./stdio-fixture.ts";
import { result } from "./rpc-fixture.ts";

const stdio = stdioFixture();
const programs = dirname(programPath("good.mjs"));
const profile = (more: Partial<Exclude<SandboxSetting, string>> = {}): SandboxSetting => ({
  kind: "bwrap",
  read: [programs],
  ...more,
});

/** A server whose only method runs a shell command inside the sandbox and returns its output. */
async function inside(sandbox: SandboxSetting, more: { env?: Record<string, string>; cwd?: string } = {}) {
  const script = `while read -r line; do
    id=$(printf '%s' "$line" | sed 's/.*"id":"\\([^"]*\\)".*/\\1/')
    command=$(printf '%s' "$line" | sed 's/.*"command":"\\([^"]*\\)".*/\\1/')
    printf '{"jsonrpc":"2.0","id":"%s","result":{"out":"%s"}}\\n' "$id" "$(sh -c "$command" 2>&1 | tr '\\n"' '  ')"
  done`;
  const processes = stdio.tree({ graces: { eofMs: 5000, termMs: 100 } });
  const program = { server: "boxed", command: "sh", args: ["-c", script], sandbox, ...more };
  const { transport, request } = await stdio.open(program, { processes });
  const run = async (command: string) => String((await result(request("run", { command })))["out"]).trim();
  return { transport, processes, run };
}

describe.skipIf(lacks("bubblewrap"))("M25 a sandboxed server", () => {
  it("works, cannot see our files, processes or network, and cannot change anything", async () => {
    const home = await stdio.folder();
    await writeFile(join(home, "key"), "secret");
    const { run } = await inside("bwrap", { env: { HOME: home, TOKEN: "hunter2" } });
    expect(await run("echo hi")).toBe("hi");
    expect(await run(`cat ${join(home, "key")} || echo denied`)).toMatch(/denied$/);
    expect(await run("ls /work /root /home 2>/dev/null | wc -l")).toBe("0");
    expect(await run("touch /usr/x || echo denied")).toMatch(/denied$/);
    expect(await run("ls -d /proc/[0-9]* | wc -l")).toMatch(/^[2-9]$/);
    expect(await run("readlink /proc/self/ns/net")).not.toBe(await readlink("/proc/self/ns/net"));
    expect(await run("touch $HOME/note && touch /tmp/note && echo fine")).toBe("fine");
    expect(await run("echo $TOKEN")).toBe("hunter2");
    expect(existsSync(join(home, "note"))).toBe(false);
  });

  it("reads and writes the folders in its profile, even writable ones inside readable ones", async () => {
    const folder = await stdio.folder();
    await mkdir(join(folder, "out"));
    await writeFile(join(folder, "in.txt"), "text");
    const sandbox = profile({ read: [folder], write: ["out"], network: true, env: ["PATH", "SEEN"] });
    const { run } = await inside(sandbox, { cwd: folder, env: { SEEN: "yes", UNSEEN: "no" } });
    expect(await run("cat in.txt")).toBe("text");
    expect(await run("touch in2.txt || echo denied")).toMatch(/denied$/);
    expect(await run("echo made > out/made.txt; echo $SEEN $UNSEEN")).toBe("yes");
    expect(await readFile(join(folder, "out", "made.txt"), "utf8")).toBe("made\n");
    expect(await run("readlink /proc/self/ns/net")).toBe(await readlink("/proc/self/ns/net"));
  });

  it("keeps secrets out of every command line", async () => {
    const { run, processes } = await inside("bwrap", { env: { TOKEN: "hunter2-canary" } });
    await run("true");
    expect(processesWith(processes.owner).length).toBeGreaterThan(0);
    expect(processesWith("hunter2-canary", "cmdline")).toEqual([]);
  });

  it("runs a program from any folder, even one that daemonizes, and leaves nothing behind", async () => {
    const processes = stdio.tree({ graces: { eofMs: 100, termMs: 100 } });
    const program = { ...nodeProgram("daemonizing.mjs"), sandbox: profile() };
    const { transport, request } = await stdio.open(program, { processes });
    expect(await result(request("echo", { n: 1 }))).toMatchObject({ n: 1 });
    expect(processesWith(processes.owner).length).toBeGreaterThanOrEqual(3);
    await transport.close();
    expect(processesWith(processes.owner)).toEqual([]);
  });

  it("is not started if its profile names a folder that does not exist", async () => {
    await expect(inside(profile({ write: ["/no/such/folder"] }))).rejects.toMatchObject({
      code: "spawn-failed",
      message: expect.stringContaining("/no/such/folder"),
    });
  });
});

describe("M44 a sandbox that is not available", () => {
  it("means that the server is not started, and says what to install", async () => {
    const processes = stdio.tree({ env: { PATH: "/no/such/folder" } });
    const program = {
      ...nodeProgram("good.mjs"),
      sandbox: "bwrap" as const,
      env: { PATH: process.env["PATH"] ?? "" },
    };
    await expect(stdio.open(program, { processes })).rejects.toMatchObject({
      code: "spawn-failed",
      message: expect.stringMatching(/bubblewrap \(bwrap\) is not installed; it was not started/),
      hint: expect.stringContaining("apt install bubblewrap"),
    });
    expect(processes.size).toBe(0);
  });

  it("`none` means none", async () => {
    const processes = stdio.tree({ env: { PATH: "/no/such/folder" } });
    const { request } = await stdio.open({ ...nodeProgram("good.mjs"), sandbox: "none" }, { processes });
    expect(await result(request("ping"))).toEqual({});
  });
});
