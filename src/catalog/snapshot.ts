import { isRecord } from "../lib/record.ts";
import type { Store } from "../store/store.ts";
import type { KnownList, ListKind } from "./server-lists.ts";

const kinds: readonly ListKind[] = ["tools", "resources", "resourceTemplates", "prompts"];
const keepMs = 30 * 86_400_000;
/** Larger lists are asked for anew each time rather than kept. */
const maxBytes = 16_000_000;

/**
 * Lists on disk, so that tools are there before a server has started. Keyed by what the server is, not by its name,
 * and by who asked where that matters: what one caller may see is nobody else's business.
 */
export class Snapshots {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async load(
    fingerprint: string,
    caller: string | undefined,
  ): Promise<Partial<Record<ListKind, Pick<KnownList, "entries" | "at" | "ttlMs">>>> {
    try {
      const value = (await this.#store.get(key(fingerprint, caller)))?.value;
      if (!isRecord(value)) return {};
      const lists = kinds.flatMap((kind) => (isKnown(value[kind]) ? [[kind, value[kind]] as const] : []));
      return Object.fromEntries(lists);
    } catch {
      return {};
    }
  }

  async save(
    fingerprint: string,
    caller: string | undefined,
    lists: Partial<Record<ListKind, KnownList>>,
  ): Promise<void> {
    const value = Object.fromEntries(
      Object.entries(lists).map(([kind, { entries, at, ttlMs }]) => [kind, { entries, at, ttlMs }]),
    );
    try {
      if (JSON.stringify(value).length > maxBytes) await this.#store.delete(key(fingerprint, caller));
      else await this.#store.set(key(fingerprint, caller), value, { ttlMs: keepMs });
    } catch {
      // A snapshot is a convenience.
    }
  }
}

function key(fingerprint: string, caller: string | undefined): string {
  return `catalog/${fingerprint}${caller === undefined ? "" : `/${caller}`}`;
}

function isKnown(value: unknown): value is Pick<KnownList, "entries" | "at" | "ttlMs"> {
  return (
    isRecord(value) &&
    Array.isArray(value["entries"]) &&
    value["entries"].every(isRecord) &&
    typeof value["at"] === "number" &&
    typeof value["ttlMs"] === "number"
  );
}
