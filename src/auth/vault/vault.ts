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
import type { VaultStorageOptions } from "./storage.ts";

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
  /** Stores a JSON value and returns where its key is. */
  set(name: string, value: unknown): Promise<VaultPlace>;
  /**
   * Rewrites the record unchanged and returns false if that is not possible now. Afterwards its key is in memory. Call
   * this before an action that invalidates the record, to be sure that the replacement can be stored.
   */
  canReplace(name: string): Promise<boolean>;
  /** True if there was a record. Works without the key. */
  delete(name: string): Promise<boolean>;
  list(prefix: string): Promise<VaultList>;
}

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
      const id = recordId(name);
      const held = unwritten.get(id);
      const document = await storage.read();
      const sealed = document.records.get(id);
      const kept =
        sealed && (await openRecord(id, sealed, document).catch((error) => (held ? undefined : fail(error))));
      return kept && kept.setAt > (held?.setAt ?? -1) ? kept.value : held?.value;
    },

    async set(name, value) {
      const record: VaultRecord = { name, value: copyOf(value), setAt: now() };
      const id = recordId(name);
      try {
        const place = await storage.change((document, save) => put(id, record, document, save));
        unwritten.delete(id);
        return place;
      } catch (error) {
        if (!isUnwritable(error)) throw error;
        unwritten.set(id, record);
        if (!hasWarned) onWarning(notStoredWarning(path, error));
        hasWarned = true;
        return "memory";
      }
    },

    async canReplace(name) {
      const id = recordId(name);
      if (unwritten.has(id)) return true;
      try {
        await storage.change(async (document, save) => {
          const sealed = document.records.get(id);
          if (sealed) await put(id, await openRecord(id, sealed, document), document, save);
        });
        return true;
      } catch (error) {
        if (isUnwritable(error)) return false;
        throw error;
      }
    },

    async delete(name) {
      const id = recordId(name);
      const wasHeld = unwritten.delete(id);
      if (!(await storage.read()).records.has(id)) return wasHeld;
      return storage.change(async (document, save) => {
        const wasKept = document.records.delete(id);
        if (wasKept) await save().catch((error: unknown) => fail(unwritable(path, error)));
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

  async function put(id: string, record: VaultRecord, document: VaultDocument, save: () => Promise<void>) {
    const { id: keyId, key, about, discard } = await keys.forWriting(document);
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
  const why = isRecord(error) && typeof error["code"] === "string" ? ` (${error["code"]})` : "";
  return `The vault ${path} cannot be written to${why}; new secrets and logins are lost when this process ends.`;
}

function fail(error: unknown): never {
  throw error;
}
