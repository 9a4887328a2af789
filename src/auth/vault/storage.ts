import { renameSync } from "node:fs";
import { join } from "node:path";
import { emptyVault, formatVault, parseVault } from "./document.ts";
import type { VaultDocument } from "./document.ts";
import { unwritable, vaultError } from "./error.ts";
import { readPrivateFile, writePrivateFile } from "./file.ts";

export interface VaultStorageOptions {
  /** A folder for the vault alone, below the state folder. */
  folder: string;
  /** Runs `work` alone among all processes; the signal is aborted when that is no longer certain. */
  lock<T>(name: string, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  now?: (() => number) | undefined;
  onWarning?: ((message: string) => void) | undefined;
}

/** The vault's file as a whole: read by anybody at any time, changed by one process at a time. */
export class VaultStorage {
  readonly path: string;
  readonly #options: VaultStorageOptions;

  constructor(options: VaultStorageOptions) {
    this.#options = options;
    this.path = join(options.folder, "vault.json");
  }

  /** Needs no lock, because the file is replaced whole; setting a damaged one aside does. */
  async read(): Promise<VaultDocument> {
    return this.#parse() ?? this.change(async (document) => document);
  }

  /** Hands out the document as it is now, alone; nothing is written unless `save` is called. */
  change<T>(work: (document: VaultDocument, save: () => Promise<void>) => Promise<T>): Promise<T> {
    return this.#options.lock("vault", async (signal) => {
      const document = this.#parse() ?? this.#setAside();
      return work(document, async () => {
        signal.throwIfAborted();
        await writePrivateFile(this.path, formatVault(document));
      });
    });
  }

  /** Undefined when the file is damaged. */
  #parse(): VaultDocument | undefined {
    const text = readPrivateFile(this.path);
    if (text === undefined) return emptyVault();
    const parsed = parseVault(text);
    if (parsed.kind === "vault") return parsed.document;
    if (parsed.kind === "corrupt") return undefined;
    const hint = "Update Plugboard; the vault was left as it is.";
    throw vaultError("newer", this.path, `The vault ${this.path} was written by a newer Plugboard.`, hint);
  }

  #setAside(): VaultDocument {
    const { folder, now = Date.now, onWarning } = this.#options;
    const aside = join(folder, `vault.corrupt-${new Date(now()).toISOString().replace(/\W/g, "")}`);
    try {
      renameSync(this.path, aside);
    } catch (error) {
      throw unwritable(this.path, error);
    }
    onWarning?.(
      `The vault ${this.path} was damaged. It is now ${aside}; secrets and logins have to be entered again.`,
    );
    return emptyVault();
  }
}
