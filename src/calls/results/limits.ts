import { isRecord } from "../../lib/record.ts";
import type { Store } from "../../store/store.ts";

const mebibyte = 1_048_576;

/** What results may occupy. The oldest of a caller go first; of several callers, whoever has the most gives way. */
export interface ResultLimits {
  /** Only this many bytes of a result are stored. */
  maxBytes: number;
  callerBytes: number;
  callerResults: number;
  totalBytes: number;
  totalResults: number;
}

export const resultLimits: ResultLimits = {
  maxBytes: 16 * mebibyte,
  callerBytes: 32 * mebibyte,
  callerResults: 100,
  totalBytes: 128 * mebibyte,
  totalResults: 1_000,
};

/** Everybody's results are counted when this process has stored that much since the last time. */
const countAfter = { bytes: 8 * mebibyte, results: 16 };

interface Kept {
  key: string;
  owner: string;
  handle: string;
  bytes: number;
}

/**
 * Keeps the results in a store within their limits. Each has a small entry under its owner and time, so that finding
 * out which is the oldest reads no result.
 */
export class ResultIndex {
  readonly #store: Store;
  readonly #limits: ResultLimits;
  readonly #remove: (handle: string, bytes: number) => Promise<void>;
  #uncounted = { bytes: Infinity, results: Infinity };

  constructor(store: Store, limits: ResultLimits, remove: (handle: string, bytes: number) => Promise<void>) {
    this.#store = store;
    this.#limits = limits;
    this.#remove = remove;
  }

  /** Announces a result before it is stored, and makes room for it. */
  async add(owner: string, handle: string, bytes: number, at: number, ttlMs: number): Promise<void> {
    const key = `${prefixOf(owner)}${String(Math.floor(at)).padStart(15, "0")}/${handle}`;
    await this.#store.set(key, { bytes }, { ttlMs });
    const { callerBytes, callerResults } = this.#limits;
    const own = await this.#list(prefixOf(owner));
    await this.#shrink(own, handle, callerBytes, callerResults, () => own[0]);
    this.#uncounted.bytes += bytes;
    this.#uncounted.results++;
    if (this.#uncounted.bytes > countAfter.bytes || this.#uncounted.results > countAfter.results)
      await this.#countAll(handle);
  }

  async #countAll(newest: string): Promise<void> {
    this.#uncounted = { bytes: 0, results: 0 };
    const { totalBytes, totalResults } = this.#limits;
    const all = await this.#list("results/");
    const sums = new Map<string, { bytes: number; results: number }>();
    for (const { owner, bytes } of all) {
      const sum = sums.get(owner) ?? { bytes: 0, results: 0 };
      sums.set(owner, { bytes: sum.bytes + bytes, results: sum.results + 1 });
    }
    await this.#shrink(all, newest, totalBytes, totalResults, (by) => {
      let most: { owner: string; bytes: number; results: number } | undefined;
      for (const [owner, sum] of sums) if (!most || sum[by] > most[by]) most = { owner, ...sum };
      const oldest = all.find(({ owner }) => owner === most?.owner);
      if (most && oldest)
        sums.set(most.owner, { bytes: most.bytes - oldest.bytes, results: most.results - 1 });
      return oldest;
    });
  }

  /** Removes what `next` chooses until the rest is within the limits. The newest stays, whatever its size. */
  async #shrink(
    kept: Kept[],
    newest: string,
    maxBytes: number,
    maxResults: number,
    next: (by: "bytes" | "results") => Kept | undefined,
  ): Promise<void> {
    let bytes = kept.reduce((sum, one) => sum + one.bytes, 0);
    while (kept.length > 1 && (bytes > maxBytes || kept.length > maxResults)) {
      const chosen = next(bytes > maxBytes ? "bytes" : "results");
      if (!chosen || chosen.handle === newest) return;
      kept.splice(kept.indexOf(chosen), 1);
      bytes -= chosen.bytes;
      await this.#remove(chosen.handle, chosen.bytes);
      await this.#store.delete(chosen.key);
    }
  }

  /** By owner, the oldest first. */
  async #list(prefix: string): Promise<Kept[]> {
    const entries = await this.#store.list(prefix);
    return entries.flatMap(({ key, value }) => {
      const [, owner, , handle] = key.split("/");
      const bytes = isRecord(value) && typeof value["bytes"] === "number" ? value["bytes"] : 0;
      return owner === undefined || handle === undefined ? [] : [{ key, owner, handle, bytes }];
    });
  }
}

function prefixOf(owner: string): string {
  return `results/${owner === "" ? "-" : owner}/`;
}
