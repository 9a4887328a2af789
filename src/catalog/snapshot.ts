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
      const value = (await this.#store.get(this.#key(fingerprint, caller)))?.value;
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
      if (size > maxSize) await this.#store.delete(this.#key(fingerprint, caller));
      else await this.#store.set(this.#key(fingerprint, caller), written(known), { ttlMs: keepMs });
    } catch {
      // Snapshots are optional.
    }
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
