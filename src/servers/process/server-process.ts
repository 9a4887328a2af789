import type { ChildProcess } from "node:child_process";
import { readProc } from "../../lib/proc.ts";
import { launcherActivity } from "./launcher-activity.ts";
import type { RunningProgram } from "./running-program.ts";
import { isGroupAlive, parseStat, signalProcess, type MarkerScan } from "./proc-scan.ts";
import { goneWithin, killMarked } from "./reap.ts";
import { endWindowsTree } from "./windows.ts";
import { waitAtMost } from "../wait-at-most.ts";

export interface ExitStatus {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface Graces {
  /** How long a server may take to exit after its stdin was closed. */
  eofMs: number;
  /** How long it may take to exit after SIGTERM. */
  termMs: number;
  /** The same for a launcher that is still installing: it removes what it began. */
  installMs: number;
}

export interface ServerProcessOptions {
  child: ChildProcess;
  pid: number;
  /** The marker in this server's environment. */
  marker: string;
  graces: Graces;
  scan: MarkerScan;
  platform: NodeJS.Platform;
}

/** A running server and its descendants. When its program exits, its descendants are ended too. */
export class ServerProcess implements RunningProgram {
  readonly child: ChildProcess;
  readonly pid: number;
  /** Settles when the program itself exited; its descendants may still hold its pipes. */
  readonly exited: Promise<ExitStatus>;
  /** Settles when the program and all its descendants are gone. */
  readonly ended: Promise<void>;
  exit: ExitStatus | undefined;
  readonly #options: ServerProcessOptions;
  /** Settles when it exited and its pipes have been read to the end. */
  readonly #closed: Promise<void>;
  #stopping = false;
  #markEnded: () => void = () => undefined;

  constructor(options: ServerProcessOptions) {
    this.#options = options;
    this.child = options.child;
    this.pid = options.pid;
    this.ended = new Promise((resolve) => {
      this.#markEnded = resolve;
    });
    this.#closed = new Promise((resolve) => {
      options.child.once("close", () => resolve());
    });
    this.exited = new Promise((resolve) => {
      options.child.once("exit", (code, signal) => {
        this.exit = { code, signal };
        resolve(this.exit);
        void this.stop();
      });
    });
  }

  get stdin() {
    return this.child.stdin;
  }

  get stdout() {
    return this.child.stdout;
  }

  get stderr() {
    return this.child.stderr;
  }

  /** Close stdin, wait, SIGTERM to the group, wait, SIGKILL to the group. Settles when no process is left. */
  stop(): Promise<void> {
    if (!this.#stopping) {
      this.#stopping = true;
      void (this.#options.platform === "win32" ? this.#stopOnWindows() : this.#stop()).finally(
        this.#markEnded,
      );
    }
    return this.ended;
  }

  async #stop(): Promise<void> {
    const { child, pid } = this;
    const { graces, marker, scan } = this.#options;
    child.stdin?.end();
    // An install does not read stdin. It would go on to its end, and start the server.
    const isInstalling = (await launcherActivity(pid))?.isInstalling ?? false;
    if (!isInstalling) await this.#exitWithin(graces.eofMs);
    if (!(await this.#isGone())) {
      await this.#terminate();
      await goneWithin(() => this.#isGone(), isInstalling ? graces.installMs : graces.termMs);
      // Even if the program itself has exited: its descendants may ignore SIGTERM and hold its pipes.
      signalProcess(-pid, "SIGKILL");
    }
    // Scan again for processes that were being started during the first scan.
    await killMarked(marker, scan);
    await waitAtMost(this.#closed, pipeMs);
    // A process that left the group and dropped the marker may still hold the pipes; we do not wait for it.
    for (const stream of child.stdio) stream?.destroy();
  }

  /** Each process gets the signal once: at a second one, npm exits without removing what it began to install. */
  async #terminate(): Promise<void> {
    const { marker, scan } = this.#options;
    signalProcess(-this.pid, "SIGTERM");
    for (const marked of await scan(marker)) {
      const group = parseStat((await readProc(marked, "stat")) ?? "")?.group;
      if (group !== this.pid) signalProcess(marked, "SIGTERM");
    }
  }

  async #isGone(): Promise<boolean> {
    const { marker, scan } = this.#options;
    // Check the group last: telling live members from zombies requires a look at every process.
    return this.exit !== undefined && (await scan(marker)).length === 0 && !(await isGroupAlive(this.pid));
  }

  async #stopOnWindows(): Promise<void> {
    this.child.stdin?.end();
    await this.#exitWithin(this.#options.graces.eofMs);
    if (this.exit === undefined) await endWindowsTree(this.pid);
    for (const stream of this.child.stdio) stream?.destroy();
  }

  async #exitWithin(ms: number): Promise<void> {
    if (this.exit === undefined) await waitAtMost(this.exited, ms);
  }
}

const pipeMs = 1000;
