import type { Vault } from "./vault/vault.ts";

/** Where logins are kept, and the right to change one alone among all processes that share them. */
export interface Credentials {
  vault(): Promise<Pick<Vault, "get" | "set" | "delete">>;
  /** The signal is aborted when the right was lost. */
  lock<T>(name: string, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

/** For a hub that has no place to keep anything: logins end with it. */
export function createMemoryCredentials(): Credentials {
  const records = new Map<string, string>();
  const turns = new Map<string, Promise<unknown>>();
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
      const before = turns.get(name) ?? Promise.resolve();
      const turn = before.then(() => work(new AbortController().signal));
      turns.set(
        name,
        turn.catch(() => undefined),
      );
      return turn;
    },
  };
}
