import { PlugboardError } from "../errors.ts";
import { launcherActivity } from "./process/launcher-activity.ts";
import type { LauncherActivity } from "./process/launcher-activity.ts";
import type { Remote } from "./process/remotes.ts";

export interface StartLimitOptions {
  server: string;
  /** For the server itself; the time that an install takes does not count. */
  limitMs: number;
  /** A package launcher, which may install the server before it starts it. */
  isLauncher: boolean;
  /** It has never started here. */
  isFirst: boolean;
  /** What the launcher is doing, whenever that changes. */
  onDetail(detail: string): void;
}

/**
 * Limits a start. While a launcher still installs the server, the start gets more time: an install that is ended halfway
 * has to be begun again. It is ended all the same if it stands still for long, or after ten minutes.
 */
export class StartLimit implements Disposable {
  readonly #options: StartLimitOptions;
  readonly #controller = new AbortController();
  readonly #startedAt = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #program: { pid: number; activity: LauncherActivity | undefined } | undefined;
  #remotes: Remote[] = [];
  #installedAt: number | undefined;
  #movedAt = this.#startedAt;
  #detail = "";
  #isOver = false;

  constructor(options: StartLimitOptions) {
    this.#options = options;
    this.#wait();
  }

  /** Aborted with the error to show. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** True as long as a launcher has not started the server, as far as its processes show it. */
  get isInstalling(): boolean {
    return this.#program?.activity?.isInstalling ?? false;
  }

  /** The server's program runs. */
  watch(pid: number): void {
    this.#installedAt = undefined;
    this.#movedAt = performance.now();
    if (this.#options.isLauncher) this.#program = { pid, activity: undefined };
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#program = undefined;
    this.#isOver = true;
  }

  #wait(): void {
    const dueMs = (this.#installedAt ?? this.#startedAt) + this.#options.limitMs - performance.now();
    const pauseMs = this.#options.isLauncher ? Math.min(lookMs, Math.max(dueMs, shortestMs)) : dueMs;
    this.#timer = setTimeout(() => void this.#look(), pauseMs);
  }

  async #look(): Promise<void> {
    if (this.#program) await this.#observe(this.#program);
    if (this.#isOver) return;
    const reason = this.#reason(performance.now());
    if (reason) this.#controller.abort(reason);
    else this.#wait();
  }

  async #observe(program: { pid: number; activity: LauncherActivity | undefined }): Promise<void> {
    const before = program.activity;
    const activity = await launcherActivity(program.pid);
    const now = performance.now();
    if (this.#program !== program) return;
    program.activity = activity;
    if (!activity?.isInstalling) {
      if (before?.isInstalling) this.#installedAt = now;
      return;
    }
    if (!before || hasMoved(before, activity)) this.#movedAt = now;
    const remotes = await activity.remotes();
    if (this.#program !== program) return;
    this.#remotes = remotes;
    const detail = describe(activity, this.#remotes, now - this.#movedAt);
    if (detail !== this.#detail) this.#options.onDetail((this.#detail = detail));
  }

  /** Why the start has to end now. */
  #reason(now: number): PlugboardError | undefined {
    const { server, limitMs, isFirst } = this.#options;
    const { isInstalling } = this;
    if (now < (this.#installedAt ?? this.#startedAt) + limitMs) return undefined;
    const tookMs = now - this.#startedAt;
    const stoodMs = now - this.#movedAt;
    if (isInstalling && stoodMs < stillMs(limitMs) && tookMs < Math.max(longestInstallMs, limitMs))
      return undefined;
    const program = this.#program?.activity?.program;
    const waitsFor = isInstalling && stoodMs >= quietMs ? this.#remotes : [];
    const what = isInstalling
      ? `was not installed within ${seconds(tookMs)} s: ${waitingFor(program ?? "", waitsFor)}`
      : isFirst && this.#options.isLauncher && this.#installedAt === undefined
        ? `was not installed and started within ${limitMs / 1000} s`
        : `did not complete its handshake within ${limitMs / 1000} s`;
    const install = isInstalling && { install: { isSilent: waitsFor.length > 0 } };
    return new PlugboardError("start-timeout", `"${server}" ${what}.`, {
      server,
      data: { limitMs, ...install },
      ...(isInstalling && { executed: "no" as const }),
    });
  }
}

const lookMs = 1_000;
const shortestMs = 50;
/** The time for all of an install, unless the configuration allows more. */
const longestInstallMs = 600_000;
/** From then on it is worth saying what an install waits for. */
const quietMs = 3_000;

/** How long an install may stand still after the time for the start is over. */
function stillMs(limitMs: number): number {
  return Math.min(60_000, Math.max(10_000, limitMs));
}

/** A program that only waits still reads and writes a few bytes, and uses a little processor time. */
function hasMoved(before: LauncherActivity, after: LauncherActivity): boolean {
  return (
    after.processes !== before.processes ||
    after.ticks - before.ticks > 5 ||
    Math.abs(after.bytes - before.bytes) > 2_000
  );
}

function describe(
  { program, script }: LauncherActivity,
  remotes: readonly Remote[],
  stoodMs: number,
): string {
  if (script !== undefined) return `${program} is running ${script}`;
  return stoodMs >= quietMs ? waitingFor(program, remotes) : `${program} is fetching the package`;
}

function waitingFor(program: string, remotes: readonly Remote[]): string {
  const name = remotes.find(({ isNameServer }) => isNameServer);
  const closed = remotes.find(({ isOpen, isNameServer }) => !isOpen && !isNameServer);
  const [first] = remotes;
  if (closed) return `${program} is waiting for a connection to ${closed.address}`;
  if (name) return `${program} is waiting for the name server ${name.address}`;
  if (first) return `${program} is waiting for an answer from ${first.address}`;
  return `${program} is still at work`;
}

function seconds(ms: number): number {
  return Math.round(ms / 1000);
}
