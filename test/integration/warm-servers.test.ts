import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { gone, parentOf, warmScene } from "../cli/warm-fixture.ts";
import { runNode } from "../run-command.ts";
import { isAlive, processesWith, until } from "../servers/stdio-fixture.ts";
import { commandLine } from "../command-line.ts";

type Scene = ReturnType<typeof warmScene>;

/** A command in a process of its own, which has the server until it is killed. */
async function hang({ sandbox, lines }: Scene) {
  const { project: cwd, env } = sandbox;
  const child = spawn(process.execPath, [commandLine, "call", "counting.hang"], {
    cwd,
    env,
    stdio: "ignore",
  });
  const exited = once(child, "exit");
  await until(() => lines().includes("hang"), "the command uses the server");
  return { kill: () => (child.kill("SIGKILL"), exited) };
}

/** The broker, and the watchdog that it started. */
function holders(pid: number): { broker: number; watchdog: number } {
  const broker = parentOf(pid);
  const watchdogs = processesWith("plugboard-watchdog", "cmdline").filter((one) => parentOf(one) === broker);
  return { broker, watchdog: watchdogs[0] ?? 0 };
}

describe("M25 a warm server is never an orphan", () => {
  it("ends if the broker is killed, and the next command has another broker", async () => {
    const scene = warmScene();
    const pid = Number(await scene.call("pid"));
    const { broker } = holders(pid);
    process.kill(broker, "SIGKILL");
    await gone(pid);
    await gone(broker, "the broker");
    expect(readdirSync(scene.folder).filter((name) => name.endsWith(".sock"))).toHaveLength(1);
    expect((await scene.sandbox.cli(["doctor"])).out).toContain("nobody listens on");
    expect(await scene.sandbox.cli(["stop"])).toMatchObject({
      code: 0,
      out: "No servers are kept running.\n",
    });
    const next = Number(await scene.call("pid"));
    expect(Number(await scene.call("pid"))).toBe(next);
  });

  it("is reported as lost if the broker is killed in the middle of a call", async () => {
    const scene = warmScene();
    const { broker } = holders(Number(await scene.call("pid")));
    const hanging = scene.sandbox.cli(["call", "counting.hang", "--json"]);
    await until(() => scene.lines().includes("hang"), "the command uses the server");
    process.kill(broker, "SIGKILL");
    const { code, err, out } = await hanging;
    expect(code).toBe(5);
    expect(`${out}${err}`).toMatch(/connection-lost/);
    expect(`${out}${err}`).toContain('The broker that holds the program of \\"counting\\" is gone');
    await scene.call("pid");
  });

  it("ends if the command that uses it is killed", async () => {
    const scene = warmScene();
    const pid = Number(await scene.call("pid"));
    const command = await hang(scene);
    expect(scene.starts()).toEqual([pid]);
    await command.kill();
    await gone(pid);
    expect(Number(await scene.call("pid"))).not.toBe(pid);
  });

  it("ends if both are killed, in either order", async () => {
    for (const isBrokerFirst of [true, false]) {
      const scene = warmScene();
      const pid = Number(await scene.call("pid"));
      const { broker } = holders(pid);
      const command = await hang(scene);
      if (isBrokerFirst) process.kill(broker, "SIGKILL");
      await command.kill();
      if (!isBrokerFirst && isAlive(broker)) process.kill(broker, "SIGKILL");
      await gone(pid);
      await scene.call("pid");
    }
  });

  it("ends with the next start if even the watchdog was killed", async () => {
    const scene = warmScene();
    const pid = Number(await scene.call("pid"));
    const { broker, watchdog } = holders(pid);
    expect(watchdog).toBeGreaterThan(1);
    process.kill(watchdog, "SIGSTOP");
    process.kill(broker, "SIGKILL");
    await gone(broker, "the broker");
    process.kill(watchdog, "SIGKILL");
    // Its stdin is closed by now, so a server that is well-behaved may be gone already.
    await scene.call("pid");
    await gone(pid);
  });

  it("ends if the broker is asked to end", async () => {
    const scene = warmScene();
    const pid = Number(await scene.call("pid"));
    const { broker, watchdog } = holders(pid);
    process.kill(broker, "SIGTERM");
    await gone(broker, "the broker");
    expect([pid, watchdog].filter(isAlive)).toEqual([]);
    expect(readdirSync(scene.folder)).toEqual([]);
  });
});

describe("M45 a broker that hangs", () => {
  /** The broker does nothing until the test is over, or `wake` is called. */
  async function hangingBroker() {
    const scene = warmScene();
    const pid = Number(await scene.call("pid"));
    const { broker } = holders(pid);
    process.kill(broker, "SIGSTOP");
    onTestFinished(() => void (isAlive(broker) && process.kill(broker, "SIGCONT")));
    return { scene, pid, broker };
  }

  it("does not make commands hang or fail, even if the server has little time to start", async () => {
    const { scene, pid, broker } = await hangingBroker();
    scene.configure({ startupTimeoutMs: 4_000 });
    const { code, out, err } = await scene.sandbox.cli(["call", "counting.pid"]);
    expect(code).toBe(0);
    expect(err).toMatch(/^warning: Servers are not kept warm: the broker does not answer/);
    const own = Number(out);
    expect(own).not.toBe(pid);
    expect(isAlive(own)).toBe(false);
    scene.configure();
    process.kill(broker, "SIGCONT");
    const next = Number(await scene.call("pid"));
    expect(parentOf(next)).toBe(broker);
  });

  it("is reported by whoever wanted to end its servers", async () => {
    const { scene, broker } = await hangingBroker();
    const words = `The broker (pid ${broker}) does not answer; its servers may still run.`;
    const stopped = await scene.sandbox.cli(["stop"]);
    expect(stopped).toMatchObject({ code: 5, out: "" });
    expect(stopped.err).toContain(words);
    const disabled = await scene.sandbox.cli(["disable", "counting"]);
    expect(disabled.code).toBe(0);
    expect(disabled.err).toContain(`warning: ${words}`);
  });

  it("leaves the socket of a newer one alone when it ends", async () => {
    const { scene, pid, broker } = await hangingBroker();
    const socket = readdirSync(scene.folder).find((name) => name.endsWith(".sock")) ?? "";
    rmSync(join(scene.folder, socket));
    const next = Number(await scene.call("pid"));
    expect(parentOf(next)).not.toBe(broker);
    process.kill(broker, "SIGTERM");
    process.kill(broker, "SIGCONT");
    await gone(broker, "the old broker");
    expect(isAlive(pid)).toBe(false);
    expect(Number(await scene.call("pid"))).toBe(next);
  });
});

describe("M45 commands that start at the same time", () => {
  it("agree on one broker, and each gets a server of its own", async () => {
    const scene = warmScene();
    const { project: cwd, env } = scene.sandbox;
    const runs = [1, 2, 3, 4].map(() => runNode([commandLine, "call", "counting.pid"], { cwd, env }));
    for (const { code, err } of await Promise.all(runs)) expect({ code, err }).toEqual({ code: 0, err: "" });
    const alive = scene.starts().filter(isAlive);
    expect(alive.length).toBeGreaterThanOrEqual(1);
    expect(new Set(alive.map(parentOf)).size).toBe(1);
    const { json } = await scene.sandbox.cli(["stop", "--json"]);
    expect(json["ended"]).toHaveLength(alive.length);
    expect(scene.starts().filter(isAlive)).toEqual([]);
  });
});
