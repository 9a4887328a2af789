import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { chmod, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  createMarkerScan,
  isGroupAlive,
  processIdentity,
  signalProcess,
} from "../../src/servers/process/proc-scan.ts";
import { isAlive, nodeProgram, processesWith, stdioFixture, until } from "./stdio-fixture.ts";
import { result } from "./rpc-fixture.ts";

const stdio = stdioFixture();

describe("M25 the watchdog", () => {
  it("starts with the first server and is shared by all", async () => {
    const processes = stdio.tree();
    expect(processes.watchdogPid).toBeUndefined();
    const { transport: first } = await stdio.open(nodeProgram("good.mjs"), { processes });
    const { watchdogPid } = processes;
    expect(watchdogPid).toBeGreaterThan(1);
    await Promise.all([1, 2, 3].map(() => stdio.open(nodeProgram("good.mjs"), { processes })));
    await first.close();
    expect(processes.watchdogPid).toBe(watchdogPid);
    expect(processesWith(processes.owner, "cmdline")).toEqual([watchdogPid]);
  });

  it("is replaced if it is killed, and the new one knows all servers", async () => {
    const problems: string[] = [];
    const processes = stdio.tree({ onProblem: (message) => problems.push(message) });
    const { transport, request } = await stdio.open(nodeProgram("stubborn.mjs"), { processes });
    await result(request("ping"));
    const before = processes.watchdogPid ?? 0;
    process.kill(before, "SIGKILL");
    await until(
      () => processes.watchdogPid !== undefined && processes.watchdogPid !== before,
      "another watchdog",
    );
    expect(problems).toEqual([expect.stringMatching(/watchdog/)]);
    expect(isAlive(transport.pid ?? 0)).toBe(true);
  });

  it("ignores the signals that end whole process groups", async () => {
    const processes = stdio.tree();
    const { request } = await stdio.open(nodeProgram("good.mjs"), { processes });
    const watchdog = processes.watchdogPid ?? 0;
    await result(request("ping"));
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.kill(watchdog, signal);
    await result(request("ping"));
    expect(processes.watchdogPid).toBe(watchdog);
    expect(isAlive(watchdog)).toBe(true);
  });

  it("works without a writable state folder", async () => {
    const folder = await stdio.folder();
    const file = join(folder, "state");
    await writeFile(file, "");
    await chmod(folder, 0o500);
    const problems: string[] = [];
    const processes = stdio.tree({ stateFolder: file, onProblem: (message) => problems.push(message) });
    const { request } = await stdio.open(nodeProgram("good.mjs"), { processes });
    expect(await result(request("ping"))).toEqual({});
    expect(problems).toEqual([expect.stringContaining(file)]);
    await processes.close();
    await chmod(folder, 0o700);
  });

  it("leaves no record after a normal close", async () => {
    const stateFolder = await stdio.folder();
    const processes = stdio.tree({ stateFolder });
    await stdio.open(nodeProgram("good.mjs"), { processes });
    expect(await readdir(join(stateFolder, "owners"))).toEqual([`${processes.owner}.json`]);
    await processes.close();
    expect(await readdir(join(stateFolder, "owners"))).toEqual([]);
  });
});

describe("M25 signals reach only their target", () => {
  it.each([0, 1, -1, Number.NaN, 1.5, -0, 2 ** 53])("never signals every process or itself: %s", (pid) => {
    expect(signalProcess(pid, 0)).toBe(false);
  });

  it("identifies processes by their start time, not only their id", async () => {
    expect(await processIdentity(process.pid)).toMatch(/^\d+$/);
    expect(await processIdentity(2 ** 22 + 1)).toBeUndefined();
    expect(await isGroupAlive(2 ** 22 + 1)).toBe(false);
  });

  it("takes a process for gone when only its parent has not noticed yet", async () => {
    const parent = spawn("sh", ["-c", "sleep 600 & echo $!; exec sleep 600"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    onTestFinished(() => void parent.kill("SIGKILL"));
    const [said] = (await once(parent.stdout, "data")) as [Buffer];
    const pid = Number(said.toString());
    const state = () => readFileSync(`/proc/${pid}/stat`, "latin1").split(" ")[2];
    // The shell itself might still take notice.
    const shell = () => readFileSync(`/proc/${parent.pid}/comm`, "latin1").trim();
    await until(() => shell() === "sleep", "the shell has become another program");
    process.kill(pid, "SIGKILL");
    await until(() => state() === "Z", "it is a zombie");
    expect(await processIdentity(pid)).toBeUndefined();
  });

  it("finds marked processes with one walk for concurrent searches, and never ourselves", async () => {
    const processes = stdio.tree();
    const transports = await Promise.all(
      [1, 2].map(() => stdio.open(nodeProgram("good.mjs"), { processes })),
    );
    const scan = createMarkerScan();
    const [first, second, both, none] = await Promise.all([
      scan(`PLUGBOARD_OWNER=${processes.owner}.1\0`),
      scan(`PLUGBOARD_OWNER=${processes.owner}.2\0`),
      scan(`PLUGBOARD_OWNER=${processes.owner}.`),
      scan("PLUGBOARD_OWNER=nobody"),
    ]);
    expect(new Set([...first, ...second])).toEqual(new Set(transports.map(({ transport }) => transport.pid)));
    expect(both).toHaveLength(2);
    expect(none).toEqual([]);
  });
});
