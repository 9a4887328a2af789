import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach } from "vitest";
import {
  ProcessTree,
  type ProcessTreeOptions,
  type ServerProgram,
} from "../../src/servers/process/process-tree.ts";
import { StdioTransport, type StdioOptions } from "../../src/servers/transports/stdio/transport.ts";
import { openRpc, type Opened } from "./rpc-fixture.ts";

export function programPath(name: string): string {
  return fileURLToPath(new URL(`../fixtures/programs/${name}`, import.meta.url));
}

export function nodeProgram(name: string, ...args: string[]): ServerProgram {
  return { server: name, command: process.execPath, args: [programPath(name), ...args] };
}

/** Everything opened through it is closed after the test. */
export function stdioFixture() {
  const closers: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });
  const fixture = {
    later: (close: () => Promise<unknown>) => void closers.push(close),
    async folder(): Promise<string> {
      const path = await mkdtemp(join(tmpdir(), "plugboard-"));
      closers.push(() => rm(path, { recursive: true, force: true, maxRetries: 20 }));
      return path;
    },
    tree(options: Partial<ProcessTreeOptions> = {}): ProcessTree {
      const graces = { eofMs: 5000, termMs: 200 };
      const tree = new ProcessTree({ env: process.env, graces, ...options });
      closers.push(() => tree.close());
      return tree;
    },
    open(program: ServerProgram, options: Partial<StdioOptions> = {}): Promise<Opened<StdioTransport>> {
      const processes = options.processes ?? fixture.tree();
      return openRpc(new StdioTransport({ ...options, processes, program }));
    },
  };
  return fixture;
}

export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
  } catch {
    return false;
  }
}

/** Ids of live processes whose environment or command line contains the text. */
export function processesWith(text: string, part: "environ" | "cmdline" = "environ"): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/${part}`, "latin1").includes(text) && isAlive(pid);
      } catch {
        return false;
      }
    });
}

/** Polls until the condition is true; fails only after much longer than it should take. */
export async function until(condition: () => boolean, what: string, deadlineMs = 60_000): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`still not so: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
