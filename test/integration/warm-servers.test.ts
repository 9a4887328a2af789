import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { gone, parentOf, warmScene } from "../cli/warm-fixture.ts";
import { runNode } from "../run-command.ts";
import { isAlive, processesWith, until } from "../servers/stdio-fixture.ts";

const main = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));

type Scene = ReturnType<typeof warmScene>;

/** A command in a process of its own, which has the server until it is killed. */
async function hang({ sandbox, lines }: Scene) {
  const { project: cwd, env } = sandbox;
  const child = spawn(process.execPath, [main, "call", "counting.hang"], { cwd, env, stdio: "ignore" });
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
    expect(readdirSync(scene.folder)).toHaveLength(1);
    expect((await scene.sandbox.cli(["doctor"])).out).toContain("nobody listens on");
    expect(await scene.sandbox.cli(["stop"])).toMatchObject({ code: 0, out: "No server is warm.\n" });
    const next = Number(await scene.call("pid"));
    expect(Number(await scene.call("pid"))).toBe(next);
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
  it("does not make commands hang or fail", async () => {
    const scene = warmScene();
    const pid = Number(await scene.call("pid"));
    const { broker } = holders(pid);
    process.kill(broker, "SIGSTOP");
    onTestFinished(() => void (isAlive(broker) && process.kill(broker, "SIGCONT")));
    const own = Number(await scene.call("pid"));
    expect(own).not.toBe(pid);
    expect(isAlive(own)).toBe(false);
    process.kill(broker, "SIGCONT");
    const next = Number(await scene.call("pid"));
    expect(parentOf(next)).toBe(broker);
  });
});

describe("M45 commands that start at the same time", () => {
  it("agree on one broker, and each gets a server of its own", async () => {
    const scene = warmScene();
    const { project: cwd, env } = scene.sandbox;
    const runs = [1, 2, 3, 4].map(() => runNode([main, "call", "counting.pid"], { cwd, env }));
    for (const { code, err } of await Promise.all(runs)) expect({ code, err }).toEqual({ code: 0, err: "" });
    const alive = scene.starts().filter(isAlive);
    expect(alive.length).toBeGreaterThanOrEqual(1);
    expect(new Set(alive.map(parentOf)).size).toBe(1);
    const { json } = await scene.sandbox.cli(["stop", "--json"]);
    expect(json["ended"]).toHaveLength(alive.length);
    expect(scene.starts().filter(isAlive)).toEqual([]);
  });
});
