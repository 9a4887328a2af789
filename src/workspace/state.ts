import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Vault } from "../auth/vault/vault.ts";
import { resolvePath } from "../config/expand.ts";
import { PlugboardError } from "../errors.ts";
import type { Environment } from "../lib/folders.ts";
import type { Held } from "../lib/held.ts";
import type { Store } from "../store/store.ts";
import { allContents, contentsOf, forgetContent, keepContent } from "./trust-records.ts";
import type { TrustedContent } from "./trust-records.ts";

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
  /** The state file; opened again after a failure, because a disk may have space again. */
  #shared: Promise<Store> | undefined;
  /** The same, or a store in memory if the file cannot be written. */
  #store: Promise<Store> | undefined;
  /** Locks within this process while the state file cannot be used. */
  #here: Store | undefined;
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
    this.#store ??= import("../store/open.ts").then(({ orInMemory }) =>
      orInMemory(this.durable(), this.#warn),
    );
    return this.#store;
  }

  /** The state file itself; rejects if it cannot be used. For what must not be forgotten: locks and decisions. */
  durable(): Promise<Store> {
    this.#shared ??= this.#openShared().catch((error: unknown) => {
      this.#shared = undefined;
      throw error;
    });
    return this.#shared;
  }

  async #openShared(): Promise<Store> {
    const { openSqliteStore } = await import("../store/sqlite/store.ts");
    this.#closed.signal.throwIfAborted();
    const store = await openSqliteStore({ path: this.#file }, this.#warn);
    // Replaces a store in memory from when the file could not be used.
    if (this.#store) this.#store = Promise.resolve(store);
    return store;
  }

  /** The store named by the `store` setting. Trust and locks always stay in the user's own state. */
  async storeFor(setting: string | undefined, base: string): Promise<Store> {
    if (setting === undefined) return this.store();
    this.#other ??= this.#open(setting, base);
    return this.#other;
  }

  /** Secrets and logins, in their own folder next to the state file. */
  vault(env: Environment): Promise<Vault> {
    this.#vault ??= this.#openVault(env);
    return this.#vault;
  }

  /** Locks out all processes that use this state, or says in `held.onlyHere` why it cannot. */
  async lock<T>(key: string, work: (held: Held) => Promise<T>): Promise<T> {
    const [{ withLeaseOrHere }, { createMemoryStore }] = await Promise.all([
      import("../store/lease.ts"),
      import("../store/memory/store.ts"),
    ]);
    const stores = { shared: () => this.durable(), here: (this.#here ??= createMemoryStore()) };
    const options = { ttlMs: 15_000, waitMs: 60_000 };
    const working = withLeaseOrHere(stores, key, options, (held) => {
      this.#working.add(working);
      return work({ ...held, signal: AbortSignal.any([held.signal, this.#closed.signal]) });
    });
    return working.finally(() => this.#working.delete(working));
  }

  /** Does not create the state file: without one, nothing has been trusted. If it cannot be read, nothing is. */
  async trusted(fingerprint: string): Promise<TrustedContent[]> {
    return this.#readTrust((store) => contentsOf(store, fingerprint));
  }

  async allTrusted(): Promise<TrustedContent[]> {
    return this.#readTrust(allContents);
  }

  async trust(content: Omit<TrustedContent, "at">): Promise<void> {
    await keepContent(await this.durable(), { ...content, at: Date.now() });
  }

  /** Revokes what `isMeant` selects and returns it. Fails if the decisions cannot be read or changed. */
  async distrust(isMeant: (content: TrustedContent) => boolean): Promise<TrustedContent[]> {
    const store = await this.durable();
    const meant = (await allContents(store)).filter(isMeant);
    for (const content of meant) await forgetContent(store, content);
    return meant;
  }

  /** Reads what was kept. Does not create the state file: without one, it is `nothing`. */
  async kept<T>(nothing: T, read: (store: Store) => Promise<T>): Promise<T> {
    return !this.#store && !existsSync(this.#file) ? nothing : read(await this.store());
  }

  async #readTrust(read: (store: Store) => Promise<TrustedContent[]>): Promise<TrustedContent[]> {
    try {
      return await this.kept([], read);
    } catch (error) {
      const { message } = error as Error;
      this.#warn(`Your trust decisions cannot be read, so nothing is trusted: ${message}`);
      return [];
    }
  }

  async close(): Promise<void> {
    await this.#finishWork();
    const opened = await Promise.allSettled([this.#shared, this.#store, this.#other]);
    for (const one of opened) if (one.status === "fulfilled") await one.value?.close();
    await this.#here?.close();
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
    this.#closed.abort(
      new PlugboardError("store-unavailable", "The workspace is closed", { data: { reason: "closed" } }),
    );
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
    if (setting === "memory") return (await import("../store/memory/store.ts")).createMemoryStore();
    const { openStore } = await import("../store/open.ts");
    return openStore({ path: resolvePath(setting, base, this.#home) }, this.#warn);
  }
}
