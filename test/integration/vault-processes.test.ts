import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Workspace } from "../../src/config.ts";
import { createSandbox } from "../sandbox.ts";

const program = join(import.meta.dirname, "..", "auth", "programs", "vault-writer.ts");

interface Report {
  places: string[];
  values: unknown[];
  warnings: string[];
}

test("M72 twelve processes create the vault at the same moment and keep 60 secrets: none is lost", async () => {
  const box = createSandbox();
  const reports = await writeTogether(box.home, 12, 5);
  expect(reports.flatMap(({ places }) => places)).toEqual(Array.from({ length: 60 }, () => "file"));
  expect(reports.flatMap(({ warnings }) => warnings)).toEqual([]);
  await using workspace = await Workspace.open(box.options);
  const { entries, problems } = await (await workspace.vault()).list("secret/");
  expect([entries.length, problems]).toEqual([60, []]);
  expect(await workspace.secrets("7-4")).toBe("value-7-4");
});

test("M72 six processes find the vault damaged at the same moment: one sets it aside, none loses a secret", async () => {
  const box = createSandbox();
  await writeTogether(box.home, 1, 1);
  const path = join(box.folders.state, "vault", "vault.json");
  writeFileSync(path, "damaged");
  const reports = await writeTogether(box.home, 6, 2);
  expect(reports.flatMap(({ warnings }) => warnings)).toHaveLength(1);
  const aside = readdirSync(join(path, "..")).filter((name) => name.startsWith("vault.corrupt-"));
  expect(aside.map((name) => readFileSync(join(path, "..", name), "utf8"))).toEqual(["damaged"]);
  await using workspace = await Workspace.open(box.options);
  expect((await (await workspace.vault()).list("")).entries).toHaveLength(12);
});

test.runIf(process.platform === "linux")(
  "M72 a disk that takes no more: the old vault is intact, new values live in memory, and a warning says so",
  async () => {
    const box = createSandbox();
    await writeTogether(box.home, 1, 1);
    const path = join(box.folders.state, "vault", "vault.json");
    const before = readFileSync(path, "utf8");
    // A limit on file sizes looks like a disk on which writing fails, and needs no rights to set up.
    const [report] = await writeTogether(box.home, 1, 2, [
      "/bin/sh",
      "-c",
      'trap "" XFSZ; ulimit -f 0; exec "$@"',
      "sh",
    ]);
    expect(report).toMatchObject({ places: ["memory", "memory"], values: ["value-0-0", "value-0-1"] });
    expect(report?.warnings.filter((message) => message.includes("vault.json"))).toHaveLength(1);
    expect(readFileSync(path, "utf8")).toBe(before);
    expect(readdirSync(join(path, "..")).sort()).toEqual(["vault.json", "vault.key"]);
  },
);

async function writeTogether(
  home: string,
  processes: number,
  times: number,
  prefix?: string[],
): Promise<Report[]> {
  const children = Array.from({ length: processes }, (_, who) =>
    start(home, String(who), String(times), prefix),
  );
  await Promise.all(children.map((child) => once(child, "message")));
  const reports = children.map(async (child) => ((await once(child, "message")) as [Report])[0]);
  for (const child of children) child.send("go");
  return Promise.all(reports);
}

function start(home: string, who: string, times: string, prefix?: string[]): ChildProcess {
  const [execPath = process.execPath, ...before] = prefix ?? [];
  const words = prefix ? [...before, process.execPath, program] : [program];
  const [first = program, ...rest] = words;
  const child = fork(first, [...rest, home, who, times], {
    execArgv: [],
    execPath,
    env: { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}
