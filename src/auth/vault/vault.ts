import { join } from "node:path";
import { PlugboardError, isPlugboardError } from "../../errors.ts";
import type { Environment } from "../../lib/folders.ts";
import { isRecord } from "../../lib/record.ts";
import type { Keychain } from "./keychain.ts";
import { recordId, seal, unseal } from "./cipher.ts";
import type { KeyPlace, SealedRecord, VaultDocument } from "./document.ts";
import { isUnwritable, unwritable, vaultError } from "./error.ts";
import { VaultKeys } from "./keys.ts";
import { VaultStorage } from "./storage.ts";
import type { OpenVault, VaultStorageOptions } from "./storage.ts";

/** Where a record's key is stored; `memory` if nothing could be written and the record is lost when this process ends. */
export type VaultPlace = KeyPlace | "memory";

/**
 * Stores secrets by name: `secret/<NAME>`, `tokens/<server url>|<issuer>|<profile>`. A record is bound to its name and
 * cannot be read under another. Undefined means that there is no record; one that cannot be read is an error.
 */
export interface Vault {
  /** The file with the encrypted records. */
  readonly path: string;
  /** A copy, parsed from JSON: check its shape. Never cached, because other processes write too. */
  get(name: string): Promise<unknown>;
  /**
   * Stores a JSON value and returns where its key is: `memory` if the vault's folder cannot be written. If it can, but
   * other processes cannot be locked out, this fails; with `orHere`, the value is then kept in memory too.
   */
  set(name: string, value: unknown, options?: { orHere?: boolean }): Promise<VaultPlace>;
  /**
   * Rewrites the record unchanged, if there is one, and fails with the reason if that is not possible now. Afterwards its key is in memory. Call this before an action that invalidates the record, to be sure
   * that the replacement can be stored. Returns `memory` if only this process has the record.
   */
  assertReplaceable(name: string): Promise<"vault" | "memory">;
  /** True if there was a record. Works without the key. */
  delete(name: string): Promise<boolean>;
  /** The records whose names begin with `prefix`. */
  list(prefix: string): Promise<VaultList>;
}

/** What a vault stores, without the values. */
export interface VaultList {
  /** Sorted by name. */
  entries: { name: string; setAt: number; place: VaultPlace }[];
  /** One for each record that cannot be read now, with any prefix. */
  problems: PlugboardError[];
}

export interface VaultOptions extends VaultStorageOptions {
  env: Environment;
  keychain: Keychain | undefined;
}

interface VaultRecord {
  name: string;
  value: unknown;
  setAt: number;
}

/** Opens files, keychain and lock only when they are needed. See docs/decisions/0010. */
export function createVault(options: VaultOptions): Vault {
  const { folder, env, keychain, now = Date.now, onWarning = () => undefined } = options;
  const storage = new VaultStorage(options);
  const { path } = storage;
  const passphrase = env["PLUGBOARD_VAULT_PASSPHRASE"] || undefined;
  const keys = new VaultKeys({ path, keyFile: join(folder, "vault.key"), passphrase, keychain });
  /** Records that could not be written. */
  const unwritten = new Map<string, VaultRecord>();
  let hasWarned = false;

  return {
    path,
    async get(name) {
      return (await current(recordId(name)))?.value;
    },

    async set(name, value, { orHere = false } = {}) {
      const record: VaultRecord = { name, value: copyOf(value), setAt: now() };
      const id = recordId(name);
      let onlyHere: PlugboardError | undefined;
      try {
        const place = await storage.change((opened) => {
          ({ onlyHere } = opened.held);
          return put(id, record, opened);
        });
        unwritten.delete(id);
        return place;
      } catch (error) {
        if (!isUnwritable(error, path) && !(orHere && error === onlyHere)) throw error;
        unwritten.set(id, record);
        if (!hasWarned) onWarning(notStoredWarning(path, error));
        hasWarned = true;
        return "memory";
      }
    },

    async assertReplaceable(name) {
      const id = recordId(name);
      // Another process may have stored a newer one, which is not this process's own.
      if (unwritten.has(id) && (await current(id)) === unwritten.get(id)) return "memory";
      try {
        await storage.change(async (opened) => {
          const { document, held, save } = opened;
          const sealed = document.records.get(id);
          if (sealed) await put(id, await openRecord(id, sealed, document), opened);
          else if (held.onlyHere) await save();
        });
        return "vault";
      } catch (error) {
        throw isUnwritable(error, path) ? unwritable(path, error) : error;
      }
    },

    async delete(name) {
      const id = recordId(name);
      const wasHeld = unwritten.delete(id);
      if (!(await storage.read()).records.has(id)) return wasHeld;
      return storage.change(async ({ document, save }) => {
        const wasKept = document.records.delete(id);
        if (wasKept)
          await save().catch((error: unknown) =>
            fail(isUnwritable(error, path) ? unwritable(path, error) : error),
          );
        return wasKept || wasHeld;
      });
    },

    async list(prefix) {
      const document = await storage.read();
      const found = new Map<string, VaultList["entries"][number]>();
      const problems: PlugboardError[] = [];
      for (const [id, sealed] of document.records) {
        try {
          const { name, setAt } = await openRecord(id, sealed, document);
          found.set(name, { name, setAt, place: document.keys.get(sealed.key)?.place ?? "file" });
        } catch (error) {
          if (!isPlugboardError(error)) throw error;
          if (!unwritten.has(id)) problems.push(error);
        }
      }
      for (const { name, setAt } of unwritten.values()) found.set(name, { name, setAt, place: "memory" });
      const entries = [...found.values()].filter(({ name }) => name.startsWith(prefix));
      return { entries: entries.sort((a, b) => (a.name < b.name ? -1 : 1)), problems };
    },
  };

  /** The newest record: of the vault, or one that could not be written. */
  async function current(id: string): Promise<VaultRecord | undefined> {
    const held = unwritten.get(id);
    const document = await storage.read();
    const sealed = document.records.get(id);
    const kept =
      sealed && (await openRecord(id, sealed, document).catch((error) => (held ? undefined : fail(error))));
    return kept && kept.setAt > (held?.setAt ?? -1) ? kept : held;
  }

  async function put(id: string, record: VaultRecord, { document, held, save }: OpenVault) {
    const { id: keyId, key, about, discard } = await keys.forWriting(document, held);
    document.keys.set(keyId, about);
    document.records.set(id, { key: keyId, ...seal(key, `${id}|${keyId}`, JSON.stringify(record)) });
    try {
      await save();
    } catch (error) {
      await discard?.();
      throw error;
    }
    return about.place;
  }

  async function openRecord(
    id: string,
    sealed: SealedRecord,
    { keys: known }: VaultDocument,
  ): Promise<VaultRecord> {
    const about = known.get(sealed.key);
    const key = about && (await keys.open(sealed.key, about));
    const text = key && unseal(key, `${id}|${sealed.key}`, sealed);
    const record: unknown = text === undefined ? undefined : JSON.parse(text);
    if (isRecord(record) && recordId(String(record["name"])) === id) return record as unknown as VaultRecord;
    const hint = "Set the secret again, or log in again, to replace it.";
    throw vaultError("corrupt", path, `A record in the vault ${path} is damaged.`, hint);
  }
}

function copyOf(value: unknown): unknown {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined)
    throw new PlugboardError("usage-invalid", "Only JSON values can be stored in the vault.");
  return JSON.parse(text);
}

function notStoredWarning(path: string, error: unknown): string {
  const { code } = isRecord(error) ? error : {};
  const why = isPlugboardError(error) ? `: ${error.message}` : typeof code === "string" ? ` (${code})` : "";
  return `The vault ${path} cannot be written to${why}; new secrets and logins are lost when this process ends.`;
}

function fail(error: unknown): never {
  throw error;
}
