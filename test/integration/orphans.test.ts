import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ProcessTree } from "../../src/servers/process/process-tree.ts";
import { rounds } from "../rounds.ts";
import { isAlive, nodeProgram, processesWith, programPath, until } from "../servers/stdio-fixture.ts";

let stateFolder: string;
beforeAll(async () => {
  stateFolder = await mkdtemp(join(tmpdir(), "plugboard-orphans-"));
});
afterAll(() => rm(stateFolder, { recursive: true, force: true, maxRetries: 20 }));

/** Starts the program that holds ten servers and waits until it says that it is ready. */
async function hold(mode: string) {
  const mark = randomUUID();
  const child = spawn(process.execPath, [programPath("holder.ts"), mode, mark, stateFolder], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = once(child, "exit");
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString().trim()));
    child.once("exit", (code) => reject(new Error(`exited early with ${code}: ${stderr}`)));
  });
  const [owner = "", watchdog = "0"] = line.split(" ");
  const left = () => processesWith(`ORPHAN_MARK=${mark}`);
  return { child, exited, owner, watchdog: Number(watchdog), left };
}

type Held = Awaited<ReturnType<typeof hold>>;

async function expectNothingLeft({ owner, left }: Held): Promise<void> {
  await until(() => left().length === 0, "no server survives");
  await until(() => processesWith(owner, "cmdline").length === 0, "no watchdog survives");
  expect(await readdir(join(stateFolder, "owners"))).not.toContain(`${owner}.json`);
}

const endings: [string, string, (held: Held) => unknown, number][] = [
  ["killed with SIGKILL", "wait", ({ child }) => child.kill("SIGKILL"), rounds(2, 10)],
  ["ended with SIGTERM", "wait", ({ child }) => child.kill("SIGTERM"), rounds(1, 2)],
  ["interrupted with SIGINT", "wait", ({ child }) => child.kill("SIGINT"), rounds(1, 2)],
  ["ended by an error nobody caught", "throw", () => undefined, rounds(1, 2)],
  ["ended by process.exit", "exit", () => undefined, rounds(1, 2)],
  ["ended by process.exit while servers are connecting", "exit-connecting", () => undefined, rounds(1, 3)],
  ["closed in good order", "close", () => undefined, 1],
];

describe("M25 no process survives a program that holds ten servers", () => {
  it.each(endings)("%s", async (_, mode, end, runs) => {
    for (let run = 0; run < runs; run++) {
      const held = await hold(mode);
      expect(held.left().length).toBeGreaterThanOrEqual(mode === "wait" ? 13 : 0);
      end(held);
      await held.exited;
      await expectNothingLeft(held);
    }
  });

  it("killed with SIGKILL at any moment of its start", async () => {
    for (const servers of [1, 2, 4, 8]) {
      const mark = randomUUID();
      const child = spawn(process.execPath, [programPath("holder.ts"), "wait", mark, stateFolder], {
        stdio: "ignore",
      });
      const exited = once(child, "exit");
      const left = () => processesWith(`ORPHAN_MARK=${mark}`);
      await until(() => left().length >= servers, `${servers} processes are there`);
      child.kill("SIGKILL");
      await exited;
      await until(() => left().length === 0, "no server survives");
    }
  });
});

describe("M25 what even the watchdog could not end is ended at the next start", () => {
  async function leaveBehind(): Promise<Held> {
    const held = await hold("wait");
    process.kill(held.watchdog, "SIGSTOP");
    held.child.kill("SIGKILL");
    await held.exited;
    process.kill(held.watchdog, "SIGKILL");
    await until(() => !isAlive(held.watchdog), "the watchdog is gone");
    expect(held.left().length).toBeGreaterThanOrEqual(8);
    return held;
  }

  async function startAnother(): Promise<void> {
    const tree = new ProcessTree({ env: process.env, stateFolder });
    await tree.spawn(nodeProgram("good.mjs"));
    await tree.close();
  }

  it("leftovers of a dead owner are ended, those of a living one are not", async () => {
    const living = await hold("wait");
    const before = living.left().length;
    const dead = await leaveBehind();
    await startAnother();
    await expectNothingLeft(dead);
    expect(living.left()).toHaveLength(before);
    living.child.kill("SIGKILL");
    await living.exited;
    await expectNothingLeft(living);
  });

  it("a process that merely has the number of the dead owner does not protect them", async () => {
    const dead = await leaveBehind();
    const path = join(stateFolder, "owners", `${dead.owner}.json`);
    const record = JSON.parse(await readFile(path, "utf8")) as Record<string, unknown>;
    await writeFile(path, JSON.stringify({ ...record, pid: process.pid }));
    await startAnother();
    await expectNothingLeft(dead);
  });

  it.each([
    ["no JSON", "{"],
    [
      "an owner that would match others",
      JSON.stringify({ owner: "", pid: 1, startTime: "1", boot: "b", namespace: "n" }),
    ],
    ["a list", "[]"],
    ["nothing", ""],
  ])("a record that is %s harms nobody", async (_, text) => {
    const living = await hold("wait");
    const before = living.left().length;
    const path = join(stateFolder, "owners", "broken.json");
    await writeFile(path, text);
    await startAnother();
    expect(living.left()).toHaveLength(before);
    await rm(path, { force: true });
    living.child.kill("SIGKILL");
    await living.exited;
    await expectNothingLeft(living);
  });
});
