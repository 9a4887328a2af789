import { canonicalJson, sha256 } from "../lib/canonical.ts";
import { isRecord } from "../lib/record.ts";
import type { Store } from "../store/store.ts";
import { hashAll, hashEntry } from "./hashes.ts";
import { listKinds } from "./known-list.ts";
import type { KnownList, ListKind } from "./known-list.ts";
import { isPageLimit } from "./pages.ts";
import { Slices } from "./slices.ts";

export type SavedLists = Partial<Record<ListKind, KnownList>>;
type Written = Pick<KnownList, "entries" | "at" | "ttlMs" | "cutBy">;

const keepMs = 30 * 86_400_000;
/** Larger lists are not saved, because writing them would block the event loop for too long. */
const maxSize = 8_000_000;

/** What a caller of its own has: where its lists are, because most callers see the same. */
interface Reference {
  same: string;
  at: Partial<Record<ListKind, number>>;
}

/**
 * Stores lists on disk, so that tools are available before a server has started. The key depends on the program or
 * URL, not the server's name, on the caller where it matters, because a list must not be shown to another caller, and on
 * the capabilities that the hub declares: servers offer other tools to clients that can do more.
 */
export class Snapshots {
  readonly #store: Store;
  readonly #mark: string;

  constructor(store: Store, capabilities: Record<string, unknown> = {}) {
    this.#store = store;
    const isPlain = Object.keys(capabilities).length === 0;
    this.#mark = isPlain ? "" : `-${sha256(canonicalJson(capabilities)).slice(0, 8)}`;
  }

  async load(fingerprint: string, caller: string | undefined): Promise<SavedLists> {
    try {
      const own = (await this.#store.get(this.#key(fingerprint, caller)))?.value;
      const value = isReference(own) ? await this.#referenced(fingerprint, own) : own;
      if (!isRecord(value)) return {};
      const lists: SavedLists = {};
      for (const kind of listKinds) {
        const written = value[kind];
        if (isWritten(written)) lists[kind] = await recall(written);
      }
      return lists;
    } catch {
      return {};
    }
  }

  async save(fingerprint: string, caller: string | undefined, lists: SavedLists): Promise<void> {
    const known = Object.entries(lists);
    const size = known.reduce((sum, [, list]) => sum + list.size, 0);
    try {
      const key = this.#key(fingerprint, caller);
      if (size > maxSize) await this.#store.delete(key);
      else if (caller === undefined) await this.#store.set(key, written(known), { ttlMs: keepMs });
      else await this.#saveFor(fingerprint, key, written(known));
    } catch {
      // Snapshots are optional.
    }
  }

  /** The times are the caller's own; everything else is kept once for all callers with the same lists. */
  async #saveFor(fingerprint: string, key: string, lists: Record<string, Written>): Promise<void> {
    const at = Object.fromEntries(Object.entries(lists).map(([kind, list]) => [kind, list.at]));
    const text = JSON.stringify(
      Object.fromEntries(Object.entries(lists).map(([kind, list]) => [kind, { ...list, at: 0 }])),
    );
    const same = sha256(text);
    await this.#store.set(this.#sameKey(fingerprint, same), text, { ttlMs: keepMs });
    await this.#store.set(key, { same, at } satisfies Reference, { ttlMs: keepMs });
  }

  async #referenced(fingerprint: string, { same, at }: Reference): Promise<unknown> {
    const text = (await this.#store.get(this.#sameKey(fingerprint, same)))?.value;
    const lists: unknown = typeof text === "string" ? JSON.parse(text) : undefined;
    if (!isRecord(lists)) return undefined;
    const dated = Object.entries(lists).map(([kind, list]) => [
      kind,
      { ...(isRecord(list) && list), at: at[kind as ListKind] },
    ]);
    return Object.fromEntries(dated);
  }

  #sameKey(fingerprint: string, hash: string): string {
    return `catalog-same/${fingerprint}/${hash}`;
  }

  #key(fingerprint: string, caller: string | undefined): string {
    return `catalog/${fingerprint}${this.#mark}${caller === undefined ? "" : `/${caller}`}`;
  }
}

function written(lists: [string, KnownList][]): Record<string, Written> {
  return Object.fromEntries(
    lists.map(([kind, { entries, at, ttlMs, cutBy }]) => [
      kind,
      { entries, at, ttlMs, ...(cutBy && { cutBy }) },
    ]),
  );
}

async function recall({ entries, at, ttlMs, cutBy }: Written): Promise<KnownList> {
  const hashes: string[] = [];
  const slices = new Slices();
  let size = 0;
  for (const entry of entries) {
    if (slices.isOver()) await slices.next();
    const hashed = hashEntry(entry);
    hashes.push(hashed.hash);
    size += hashed.size;
  }
  const age = { at, ttlMs, isSnapshot: true, session: undefined, changes: 0 };
  return { entries, hashes, hash: hashAll(hashes), size, ...age, ...(cutBy && { cutBy }) };
}

function isReference(value: unknown): value is Reference {
  return isRecord(value) && typeof value["same"] === "string" && isRecord(value["at"]);
}

function isWritten(value: unknown): value is Written {
  return (
    isRecord(value) &&
    Array.isArray(value["entries"]) &&
    value["entries"].every(isRecord) &&
    typeof value["at"] === "number" &&
    typeof value["ttlMs"] === "number" &&
    (value["cutBy"] === undefined || isPageLimit(value["cutBy"]))
  );
}
