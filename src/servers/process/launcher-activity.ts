import { readdir } from "node:fs/promises";
import { packageLauncher, programName } from "../../lib/package-launcher.ts";
import type { Launched } from "../../lib/package-launcher.ts";
import { processWords, readProc } from "../../lib/proc.ts";
import { remotesOf } from "./remotes.ts";
import type { Remote } from "./remotes.ts";

/** What a package launcher does, as the processes below a server's program show it. */
export interface LauncherActivity {
  program: string;
  /** The server itself does not run yet. */
  isInstalling: boolean;
  /** The install script that runs, with its package. */
  script?: string;
  /** Bytes read and written so far, and ticks of processor time, by all that take part. */
  bytes: number;
  ticks: number;
  processes: number;
  /** Where it has connections to, or wants one. */
  remotes(): Promise<Remote[]>;
}

interface Member {
  pid: number;
  words: string[];
  /** npm's name for the script that it runs there; `npx` for the server. */
  event: string | undefined;
  package: string | undefined;
}

/** Undefined if there is no launcher among these processes, or where they cannot be seen (only Linux shows them). */
export async function launcherActivity(root: number): Promise<LauncherActivity | undefined> {
  const members = await familyOf(root);
  for (const member of members) {
    const launched = launcherIn(member.words);
    if (!launched) continue;
    const below = await familyOf(member.pid, { withRoot: false });
    const { program, ecosystem } = launched;
    const isOfNpm = ecosystem === "npm" && (program === "npx" || program === "npm");
    const runs = isOfNpm ? below.some(({ event }) => event === "npx") : below.some((one) => !isHelper(one));
    const script = below.find(({ event }) => event !== undefined && event !== "npx");
    const family = [member, ...below];
    const counted = await Promise.all(family.map(({ pid }) => countersOf(pid)));
    return {
      program: program === "npm" ? "npx" : program,
      isInstalling: !runs,
      ...(!runs && script && { script: `the ${script.event} script of ${script.package ?? "a package"}` }),
      bytes: counted.reduce((sum, { bytes }) => sum + bytes, 0),
      ticks: counted.reduce((sum, { ticks }) => sum + ticks, 0),
      processes: family.length,
      remotes: () => remotesOf(family.map(({ pid }) => pid)),
    };
  }
  return undefined;
}

/** The launcher that runs as these words: its own program, a script under its interpreter, or the title npm sets. */
function launcherIn(line: readonly string[]): Launched | undefined {
  // `#!/usr/bin/env node`, before it has found node.
  const words = programName(line[0] ?? "") === "env" ? line.slice(1) : line;
  const isScript = /^(?:node|nodejs|bun|python[\d.]*)$/.test(programName(words[0] ?? ""));
  const [program = "", ...rest] = isScript ? words.slice(1) : words;
  const launched = packageLauncher([program.replace(/(?:-cli)?\.[cm]?js$/, ""), ...rest]);
  return launched?.namesPackage ? launched : undefined;
}

/** Runs for the install, not as the server. */
function isHelper({ words, event }: Member): boolean {
  const line = words.join(" ");
  return (
    (event !== undefined && event !== "npx") ||
    /^(?:git|tar|gzip|unzip|pip[\d.]*)$/.test(programName(words[0] ?? "")) ||
    /\bbuilds-v\d|\b-m (?:pip|venv)\b|\bbun (?:add|install)\b/.test(line)
  );
}

const mostMembers = 200;

/** A process and all that it started, nearest first. */
async function familyOf(root: number, { withRoot = true } = {}): Promise<Member[]> {
  const pids = [root];
  for (let at = 0; at < pids.length && pids.length < mostMembers; at++) {
    const pid = pids[at] ?? 0;
    const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
    const lists = await Promise.all(threads.map((thread) => readProc(pid, `task/${thread}/children`)));
    for (const child of lists.join(" ").split(/\s+/).filter(Boolean).map(Number))
      if (!pids.includes(child)) pids.push(child);
  }
  return Promise.all(pids.slice(withRoot ? 0 : 1).map(readMember));
}

async function readMember(pid: number): Promise<Member> {
  const environment = `\0${(await readProc(pid, "environ")) ?? ""}`;
  const value = (name: string) => new RegExp(`\\0${name}=([\\w@/.-]{1,100})`).exec(environment)?.[1];
  return {
    pid,
    words: await processWords(pid),
    event: value("npm_lifecycle_event"),
    package: value("npm_package_name"),
  };
}

async function countersOf(pid: number): Promise<{ bytes: number; ticks: number }> {
  const [io = "", stat = ""] = await Promise.all([readProc(pid, "io"), readProc(pid, "stat")]);
  const bytes = [...io.matchAll(/^[rw]char: (\d+)$/gm)].reduce((sum, [, count]) => sum + Number(count), 0);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { bytes, ticks: Number(fields[11] ?? 0) + Number(fields[12] ?? 0) };
}
