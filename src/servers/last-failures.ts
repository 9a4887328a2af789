import { errorTable } from "../errors.ts";
import type { ErrorCode, PlugboardError } from "../errors.ts";
import { secretNamesIn } from "../config/secret-names.ts";
import type { ServerEntry } from "../config/model.ts";
import { isRecord } from "../lib/record.ts";
import { headOf } from "../lib/text-head.ts";
import type { Store } from "../store/store.ts";
import type { ConnectionKey } from "./connection-key.ts";
import { connectionFingerprint } from "./server-memory.ts";

/** Why a server could not be used the last time, without secrets. */
export interface LastFailure {
  /** Milliseconds since the epoch. */
  at: number;
  code: ErrorCode;
  message: string;
  hint: string;
  /** Set if it connected: the lists that it did not return, such as `prompts`. */
  lists?: string[];
}

/** What is kept; `secrets` are the names in the entry, so that a new value can end the record. */
type Kept = LastFailure & { secrets: string[] };

const keepMs = 30 * 86_400_000;
const maxMessage = 1_000;
const maxLists = 10;

/**
 * The last failure of each server, kept until the server connects, its entry changes, or a login succeeds. A
 * connection of one caller has none: others must not see it. If the store fails, no failure is known.
 */
export class LastFailures {
  readonly #store: () => Promise<Store>;
  #last: Promise<unknown> = Promise.resolve();

  constructor(store: () => Promise<Store>) {
    this.#store = store;
  }

  async recall(entry: ServerEntry, key: ConnectionKey): Promise<LastFailure | undefined> {
    try {
      const value = (await (await this.#store()).get(storeKey(entry, key)))?.value;
      if (!isKept(value)) return undefined;
      const { secrets: _, ...failure } = value;
      return failure;
    } catch {
      return undefined;
    }
  }

  /** In the order of the calls, behind the caller. `error` must be free of secrets. */
  remember(
    entry: ServerEntry,
    key: ConnectionKey,
    error: PlugboardError,
    { at, lists }: { at: number; lists: readonly string[] | undefined },
  ): void {
    if (!isForAll(key)) return;
    const { code, message, hint } = error;
    const kept: Kept = {
      at,
      code,
      message: headOf(message, maxMessage),
      hint: headOf(hint, maxMessage),
      ...(lists && { lists: lists.slice(0, maxLists) }),
      secrets: secretNamesIn(entry.written),
    };
    void this.#do((store) => store.set(storeKey(entry, key), kept, { ttlMs: keepMs }));
  }

  forget(entry: ServerEntry, key: ConnectionKey): void {
    if (!isForAll(key)) return;
    void this.#do(async (store) => {
      // Reading is cheaper than writing, and most servers never failed.
      if (await store.get(storeKey(entry, key))) await store.delete(storeKey(entry, key));
    });
  }

  /** A secret has another value, so servers that use it may work now. */
  forgetSecret(name: string): Promise<void> {
    return this.#do(async (store) => {
      for (const { key, value } of await store.list(prefix))
        if (isKept(value) && value.secrets.includes(name)) await store.delete(key);
    });
  }

  /** Resolves when everything is written. */
  async close(): Promise<void> {
    await this.#last;
  }

  #do(work: (store: Store) => Promise<unknown>): Promise<void> {
    const next = this.#last.then(async () => {
      await work(await this.#store());
    });
    const settled = next.catch(() => undefined);
    this.#last = settled;
    return settled;
  }
}

const prefix = "failure/";

function storeKey(entry: ServerEntry, key: ConnectionKey): string {
  return `${prefix}${connectionFingerprint(entry, key)}`;
}

function isForAll({ caller, headers }: ConnectionKey): boolean {
  return caller === undefined && headers === undefined;
}

function isKept(value: unknown): value is Kept {
  if (!isRecord(value)) return false;
  const { at, code, message, hint, lists = [], secrets } = value;
  return (
    typeof at === "number" &&
    typeof code === "string" &&
    Object.hasOwn(errorTable, code) &&
    typeof message === "string" &&
    typeof hint === "string" &&
    [lists, secrets].every((list) => Array.isArray(list) && list.every((one) => typeof one === "string"))
  );
}
