import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Vault } from "../auth/vault/vault.ts";
import { resolvePath } from "../config/expand.ts";
import { PlugboardError } from "../errors.ts";
import type { Environment } from "../lib/folders.ts";
import type { Store } from "../store/store.ts";

export interface WorkspaceStateOptions {
  file: string;
  home: string;
  onWarning?: ((message: string) => void) | undefined;
  /** How long closing waits for changes in progress. Ten seconds by default. */
  closeTimeoutMs?: number | undefined;
}

/** A workspace's state on disk. Opened when it is first needed; kept in memory if it cannot be written. */
export class WorkspaceState {
  readonly #file: string;
  readonly #home: string;
  readonly #warn: (message: string) => void;
  #store: Promise<Store> | undefined;
  #other: Promise<Store> | undefined;
  #vault: Promise<Vault> | undefined;
  readonly #closeTimeoutMs: number;
  /** Work that holds a lock right now. */
  readonly #working = new Set<Promise<unknown>>();
  readonly #closed = new AbortController();

  constructor(options: WorkspaceStateOptions) {
    this.#file = options.file;
    this.#home = options.home;
    this.#warn = options.onWarning ?? (() => undefined);
    this.#closeTimeoutMs = options.closeTimeoutMs ?? 10_000;
  }

  /** The user's own state store. */
  store(): Promise<Store> {
    this.#store ??= import("../store/open.ts").then(({ openStore }) =>
      openStore({ path: this.#file }, this.#warn),
    );
    return this.#store;
  }

  /** The store named by the `store` setting. Trust and locks always stay in the user's own state. */
  async storeFor(setting: string | undefined, base: string): Promise<Store> {
    if (setting === undefined) return this.store();
    if (/^rediss?:/.test(setting)) {
      const hint = "Set `store` to a file or to `memory`.";
      throw new PlugboardError("config-invalid", "A store on Redis is not supported yet.", { hint });
    }
    this.#other ??= this.#open(setting, base);
    return this.#other;
  }

  /** Secrets and logins, in their own folder next to the state file. */
  vault(env: Environment): Promise<Vault> {
    this.#vault ??= this.#openVault(env);
    return this.#vault;
  }

  async lock<T>(key: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { withLease } = await import("../store/lease.ts");
    const options = { ttlMs: 15_000, waitMs: 60_000 };
    const working = withLease(await this.store(), key, options, ({ signal }) => {
      this.#working.add(working);
      return work(AbortSignal.any([signal, this.#closed.signal]));
    });
    return working.finally(() => this.#working.delete(working));
  }

  /** Does not create the state file: without one, nothing has been trusted. */
  async isTrusted(mark: string): Promise<boolean> {
    if (!this.#store && !existsSync(this.#file)) return false;
    try {
      return (await (await this.store()).get(trustKey(mark))) !== undefined;
    } catch (error) {
      const { message } = error as Error;
      this.#warn(`Your trust decisions cannot be read, so nothing is trusted: ${message}`);
      return false;
    }
  }

  async trust(mark: string, about: Record<string, unknown>): Promise<void> {
    await (await this.store()).set(trustKey(mark), { ...about, at: Date.now() });
  }

  async distrust(mark: string): Promise<boolean> {
    return (await this.store()).delete(trustKey(mark));
  }

  async close(): Promise<void> {
    await this.#finishWork();
    const opened = await Promise.allSettled([this.#store, this.#other]);
    for (const one of opened) if (one.status === "fulfilled") await one.value?.close();
  }

  /** Waits for work in progress, because an interrupted login renewal loses the login; but only until the timeout. */
  async #finishWork(): Promise<void> {
    const { promise: over, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, this.#closeTimeoutMs);
    const done = async () => {
      while (this.#working.size > 0) await Promise.allSettled(this.#working);
    };
    await Promise.race([done(), over]);
    clearTimeout(timer);
    this.#closed.abort(new PlugboardError("store-unavailable", "The workspace is closed"));
  }

  async #openVault(env: Environment): Promise<Vault> {
    const [{ createVault }, { openKeychain }] = await Promise.all([
      import("../auth/vault/vault.ts"),
      import("../auth/vault/keychain.ts"),
    ]);
    return createVault({
      folder: join(dirname(this.#file), "vault"),
      env,
      keychain: openKeychain(env),
      lock: (name, work) => this.lock(name, work),
      onWarning: this.#warn,
    });
  }

  async #open(setting: string, base: string): Promise<Store> {
    if (setting === "memory") return (await import("../store/memory.ts")).createMemoryStore();
    const { openStore } = await import("../store/open.ts");
    return openStore({ path: resolvePath(setting, base, this.#home) }, this.#warn);
  }
}

function trustKey(mark: string): string {
  return `trust/${mark}`;
}
