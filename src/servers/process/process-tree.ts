import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { Writable } from "node:stream";
import type { Environment } from "../../lib/folders.ts";
import { ownerVariable, serverEnvironment } from "./environment.ts";
import { explainSpawnError, findProgram, spawnFailed, type Launch } from "./launcher.ts";
import { createMarkerScan, type MarkerScan } from "./proc-scan.ts";
import { ownerMarker, reapLeftovers, recordPath, removeOwnerRecord, writeOwnerRecord } from "./reap.ts";
import { sandboxed, type SandboxSetting } from "./sandbox.ts";
import { ServerProcess, type Graces } from "./server-process.ts";
import { StartedProcesses } from "./started-processes.ts";
import { Watchdog } from "./watchdog.ts";
import { windowsCommand } from "./windows.ts";

export interface ProcessTreeOptions {
  /** Plugboard's own environment. */
  env: Environment;
  /** Where owners are recorded. Without it, the next start cannot clean up after a Plugboard that was killed. */
  stateFolder?: string | undefined;
  graces?: Partial<Graces> | undefined;
  /** Variables that every server gets, whatever its configuration says. */
  marks?: Readonly<Record<string, string>> | undefined;
  /** Called for problems that are worth logging but not fatal, such as a state folder that is not writable. */
  onProblem?: ((message: string) => void) | undefined;
  platform?: NodeJS.Platform | undefined;
}

/** How to start a server, from its configuration with all values expanded. */
export interface ServerProgram {
  server: string;
  command: string;
  args?: readonly string[] | undefined;
  cwd?: string | undefined;
  /** Default: ours. Not on Windows, nor in a worker thread. */
  umask?: number | undefined;
  env?: Readonly<Record<string, string>> | undefined;
  inheritEnv?: readonly string[] | undefined;
  sandbox?: SandboxSetting | undefined;
  graces?: Partial<Graces> | undefined;
}

/** All processes of one hub. Each is tracked from its start, and none outlives the hub or our process. */
export class ProcessTree {
  readonly owner: string = randomUUID();
  readonly #options: ProcessTreeOptions;
  readonly #platform: NodeJS.Platform;
  readonly #started: StartedProcesses;
  readonly #scan: MarkerScan;
  readonly #watchdog: Watchdog;
  readonly #processes = new Set<ServerProcess>();
  #count = 0;
  #ready: Promise<void> | undefined;
  #reaping: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;

  constructor(options: ProcessTreeOptions) {
    this.#options = options;
    this.#platform = options.platform ?? process.platform;
    this.#started = new StartedProcesses(ownerMarker(this.owner));
    this.#scan =
      this.#platform === "linux"
        ? createMarkerScan(this.#platform, () => this.#started.environments())
        : createMarkerScan(this.#platform);
    this.#watchdog = new Watchdog({
      marker: ownerMarker(this.owner),
      record: options.stateFolder === undefined ? undefined : recordPath(options.stateFolder, this.owner),
      onProblem: (message) => options.onProblem?.(message),
    });
  }

  get size(): number {
    return this.#processes.size;
  }

  get watchdogPid(): number | undefined {
    return this.#watchdog.pid;
  }

  /** Throws `spawn-failed` with a readable reason if the program cannot be started. */
  async spawn(program: ServerProgram): Promise<ServerProcess> {
    await (this.#ready ??= this.#prepare());
    const owner = `${this.owner}.${++this.#count}`;
    const launch = this.#launch(program, owner);
    const path = await findProgram(launch);
    const wrapped = isWanted(program.sandbox)
      ? await sandboxed(launch, path, program.sandbox, this.#options.env)
      : undefined;
    if (this.#closing) throw spawnFailed(launch, "Plugboard is closing");
    if (this.#platform !== "win32") this.#watchdog.start();
    try {
      if (this.#processes.size === 0) this.#started.begin();
      const child = withUmask(program.umask, () =>
        wrapped
          ? start(wrapped.file, wrapped.args, { cwd: "/", env: wrapped.env }, 4)
          : this.#startPlain(launch, path),
      );
      const process = this.#track(child, owner, program.graces);
      if (wrapped && child.stdio[3] instanceof Writable)
        child.stdio[3].on("error", ignore).end(wrapped.options);
      await once(child, "spawn");
      if (process === undefined) throw new Error("no process id");
      return process;
    } catch (error) {
      throw await explainSpawnError(launch, path, error);
    }
  }

  /** Stops all servers in parallel, then the watchdog. Nothing can be started afterwards. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#ready;
    await Promise.all([...this.#processes].map((process) => process.stop()));
    await this.#reaping;
    await this.#watchdog.close();
    if (this.#options.stateFolder !== undefined)
      await removeOwnerRecord(this.#options.stateFolder, this.owner);
  }

  async #prepare(): Promise<void> {
    const { stateFolder, onProblem } = this.#options;
    if (stateFolder === undefined || this.#platform === "win32") return;
    await writeOwnerRecord(stateFolder, this.owner).catch((error: unknown) => {
      onProblem?.(`The state folder ${stateFolder} cannot be written: ${String(error)}`);
    });
    // Leftover processes are older than our servers, so this scans all processes.
    this.#reaping = reapLeftovers(stateFolder, createMarkerScan(this.#platform)).then((count) => {
      if (count > 0) onProblem?.(`Ended ${count} processes that an earlier Plugboard left behind.`);
    }, ignore);
  }

  #launch(program: ServerProgram, owner: string): Launch {
    const { server, command, args = [], env, inheritEnv } = program;
    const platform = this.#platform;
    const cwd = program.cwd ?? (isWanted(program.sandbox) ? "/" : process.cwd());
    const { env: parent, marks } = this.#options;
    return {
      server,
      command,
      args,
      cwd,
      platform,
      env: serverEnvironment({ parent, env, inheritEnv, owner, marks, platform }),
    };
  }

  #startPlain(launch: Launch, path: string): ChildProcess {
    const { cwd, env, args } = launch;
    if (this.#platform !== "win32") return start(path, [...args], { cwd, env }, 3);
    const command = windowsCommand(path, args, env["COMSPEC"]);
    return start(command.file, command.args, { cwd, env, verbatim: command.verbatim }, 3);
  }

  #track(child: ChildProcess, owner: string, graces: Partial<Graces> = {}): ServerProcess | undefined {
    const { pid } = child;
    if (pid === undefined) return undefined;
    this.#watchdog.watch(pid);
    this.#started.add(pid);
    const process = new ServerProcess({
      child,
      pid,
      marker: `${ownerVariable}=${owner}\0`,
      graces: { ...defaultGraces, ...this.#options.graces, ...graces },
      scan: this.#scan,
      platform: this.#platform,
    });
    this.#processes.add(process);
    void process.ended.then(() => {
      this.#processes.delete(process);
      this.#watchdog.forget(pid);
    });
    return process;
  }
}

const defaultGraces: Graces = { eofMs: 2000, termMs: 2000, installMs: 5000 };

interface StartOptions {
  cwd: string;
  env: Readonly<Record<string, string>>;
  verbatim?: boolean;
}

/** Starts without a shell and in a new process group, so that the whole group can be signalled. */
function start(file: string, args: string[], options: StartOptions, pipes: number): ChildProcess {
  const child = spawn(file, args, {
    cwd: options.cwd,
    env: options.env,
    stdio: Array.from({ length: pipes }, () => "pipe" as const),
    detached: process.platform !== "win32",
    shell: false,
    windowsHide: true,
    windowsVerbatimArguments: options.verbatim ?? false,
  });
  // The user of a pipe notices when it breaks; this handler only prevents a crash.
  child.on("error", ignore);
  // `stdio` is missing when we have run out of file descriptors.
  for (const stream of child.stdio ?? []) stream?.on("error", ignore);
  return child;
}

/** What `work` starts inherits this umask. Nothing else runs in between, because `work` does not wait. */
function withUmask<T>(umask: number | undefined, work: () => T): T {
  if (umask === undefined) return work();
  const own = process.umask(umask);
  try {
    return work();
  } finally {
    process.umask(own);
  }
}

function isWanted(sandbox: SandboxSetting | undefined): sandbox is Exclude<SandboxSetting, "none"> {
  return sandbox !== undefined && sandbox !== "none";
}

function ignore(): void {}
