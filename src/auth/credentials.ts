import type { Held } from "../lib/held.ts";
import type { Vault } from "./vault/vault.ts";

/** Where logins are stored, with a lock so that only one of the processes that share them changes a login at a time. */
export interface Credentials {
  /** What stores the logins. */
  vault(): Promise<Pick<Vault, "get" | "set" | "delete">>;
  /** Without a lock that all of them respect, `work` gets one with `onlyHere`, and must not renew a shared login. */
  lock<T>(name: string, work: (held: Held) => Promise<T>): Promise<T>;
}

/** For a hub without persistent storage: its logins are lost when it closes. */
export function createMemoryCredentials(): Credentials {
  const records = new Map<string, string>();
  const queues = new Map<string, Promise<unknown>>();
  const vault: Awaited<ReturnType<Credentials["vault"]>> = {
    get: async (name) => JSON.parse(records.get(name) ?? "null") ?? undefined,
    set: async (name, value) => {
      records.set(name, JSON.stringify(value));
      return "memory";
    },
    delete: async (name) => records.delete(name),
  };
  return {
    vault: async () => vault,
    lock: (name, work) => {
      const before = queues.get(name) ?? Promise.resolve();
      const result = before.then(() => work({ signal: new AbortController().signal }));
      queues.set(
        name,
        result.catch(() => undefined),
      );
      return result;
    },
  };
}
