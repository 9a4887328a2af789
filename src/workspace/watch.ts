import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { FSWatcher } from "chokidar";
import { diffConfig } from "../config/diff.ts";
import { lostRule, lostRuleText } from "../config/lost-rules.ts";
import type { LoadedConfig } from "../config/model.ts";
import { brokenFiles, filesOf, locksOf, scriptsOf, stamps, waitForReplacements } from "./watched-files.ts";
import type { Workspace } from "./workspace.ts";

/** Who is told about changes. */
export interface ConfigWatchOptions {
  /** The configuration in use; loaded if absent. */
  current?: LoadedConfig | undefined;
  /** Called with the whole new configuration, and only if it differs in meaning from the previous one. */
  onChange(config: LoadedConfig): void;
  /** Called with the reason, file and line when the current files cannot be used, and with `undefined` once they can. */
  onProblem?(message: string | undefined): void;
}

/** Watches all sources of a workspace's configuration, including files that do not exist yet. */
export async function watchConfig(workspace: Workspace, options: ConfigWatchOptions): Promise<ConfigWatch> {
  const watch = new ConfigWatch(workspace, options, options.current ?? (await workspace.load()));
  await watch.begin();
  return watch;
}

/** Editors write in several steps; the files are read this long after the last one. */
const quietMs = 100;

/** Watches the files of a configuration until it is closed. */
export class ConfigWatch {
  readonly #workspace: Workspace;
  readonly #options: ConfigWatchOptions;
  readonly #watched = new Set<string>();
  #current: LoadedConfig;
  /** Files that were already broken when `#current` was loaded; they do not block a change. */
  #broken: ReadonlySet<string> = new Set();
  #problem: string | undefined;
  #watcher: FSWatcher | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stateTimer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(workspace: Workspace, options: ConfigWatchOptions, current: LoadedConfig) {
    this.#workspace = workspace;
    this.#options = options;
    this.#current = current;
  }

  /** Resolves when later changes will be noticed and changes since `current` was loaded have been reported. */
  async begin(): Promise<void> {
    this.#broken = new Set((await brokenFiles(this.#current)).keys());
    const { watch } = await import("chokidar");
    const watcher = watch(await this.#newPaths(), {
      ignoreInitial: true,
      atomic: false,
      ignorePermissionErrors: true,
    });
    this.#watcher = watcher;
    watcher.on("all", (_, path) => this.#schedule(path));
    watcher.on("error", (error) => this.#tell(`The configuration cannot be watched: ${text(error)}`));
    await new Promise<void>((resolve) => watcher.once("ready", resolve));
    await this.#lookNext();
  }

  /** Stops watching; no callback is called after this resolves. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#stateTimer);
    await this.#watcher?.close();
    await this.#looking;
  }

  #schedule(path: string): void {
    if (this.#isClosed) return;
    if (!path.startsWith(this.#workspace.stateFile)) {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => void this.#lookNext(), quietMs);
      return;
    }
    // Our own state may change all the time, so a later change does not put this off.
    this.#stateTimer ??= setTimeout(() => {
      this.#stateTimer = undefined;
      void this.#lookNext(() => this.#mayTrustDiffer());
    }, quietMs);
  }

  /** Reloads one at a time; a failed one (for example, a named file was deleted) changes nothing. */
  #lookNext(isNeeded: () => boolean | Promise<boolean> = () => true): Promise<void> {
    this.#looking = this.#looking
      .then(async () => {
        if (await isNeeded()) await this.#look();
      })
      .catch((error: unknown) => this.#tell(text(error)));
    return this.#looking;
  }

  /**
   * Many other things are recorded where trust is, so the configuration is not read each time: only while something waits
   * for trust, and when something that was trusted is not any more.
   */
  async #mayTrustDiffer(): Promise<boolean> {
    if (waitsForTrust(this.#current)) return true;
    return !(await this.#workspace.decisions.isStillTrusted(this.#current));
  }

  async #look(): Promise<void> {
    const { config, broken } = await this.#readSettled();
    if (this.#isClosed) return;
    const [news] = [...broken].filter(([file]) => !this.#broken.has(file));
    if (news) return this.#tell(news[1]);
    const lost = lostRule(config);
    if (lost && !lostRule(this.#current)) return this.#tell(lostRuleText(lost));
    this.#tell(undefined);
    const { added, removed, changed, rules } = diffConfig(this.#current, config);
    this.#current = config;
    this.#broken = new Set(broken.keys());
    this.#watcher?.add(await this.#newPaths());
    if (rules || added.length + removed.length + changed.length > 0) this.#options.onChange(config);
  }

  /** Loads until no file changed during the load, so that the checked and the loaded content are the same. */
  async #readSettled(): Promise<{ config: LoadedConfig; broken: Map<string, string> }> {
    const known = filesOf(this.#current);
    const files = [
      ...known.map(({ file }) => file),
      ...scriptsOf(this.#current),
      ...locksOf(this.#current).map(({ file }) => file),
    ];
    const existing = [
      ...known.filter(({ state }) => state !== "missing"),
      ...locksOf(this.#current).filter(({ isUsed }) => isUsed),
    ];
    await waitForReplacements(
      existing.map(({ file }) => file),
      () => this.#isClosed,
    );
    for (let attempt = 0; ; attempt++) {
      const before = await stamps(files);
      const config = await this.#workspace.load();
      const broken = await brokenFiles(config);
      if (attempt >= 20 || this.#isClosed || (await stamps(files)) === before) return { config, broken };
      await sleep(20);
    }
  }

  async #newPaths(): Promise<string[]> {
    const files = filesOf(this.#current).map(({ file }) => file);
    const managed = join(this.#workspace.folders.managed, "managed.json");
    const locks = locksOf(this.#current).map(({ file }) => file);
    const all = [...files, ...locks, managed, ...scriptsOf(this.#current), ...this.#decisionFiles()];
    // Watching a link does not report that its target was replaced, so the target is watched too.
    const real = await Promise.all(all.map((file) => realpath(file).catch(() => file)));
    const fresh = [...new Set([...all, ...real])].filter((file) => !this.#watched.has(file));
    for (const file of fresh) this.#watched.add(file);
    return fresh;
  }

  /** Where trust is recorded, if anything here depends on it: it may be given, and taken back. */
  #decisionFiles(): string[] {
    const { servers, sources } = this.#current;
    const depends =
      waitsForTrust(this.#current) ||
      [...servers.values()].some(({ needsTrust }) => needsTrust) ||
      sources.some(({ settingsMark }) => settingsMark !== undefined);
    const { stateFile } = this.#workspace;
    return depends ? [stateFile, `${stateFile}-wal`] : [];
  }

  #tell(problem: string | undefined): void {
    if (this.#isClosed || problem === this.#problem) return;
    this.#problem = problem;
    this.#options.onProblem?.(problem);
  }
}

function waitsForTrust({ servers, sources }: LoadedConfig): boolean {
  return (
    [...servers.values()].some(({ status }) => status.kind === "disabled" && status.reason === "untrusted") ||
    sources.some(({ untrustedSettings }) => untrustedSettings !== undefined)
  );
}

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
