import { renameSync } from "node:fs";
import { join } from "node:path";
import { assertHeld } from "../../lib/held.ts";
import type { Held } from "../../lib/held.ts";
import { emptyVault, formatVault, parseVault } from "./document.ts";
import type { VaultDocument } from "./document.ts";
import { unwritable, vaultError } from "./error.ts";
import { readPrivateFile, writePrivateFile } from "./file.ts";

export interface VaultStorageOptions {
  /** A folder that contains only the vault, inside the state folder. */
  folder: string;
  /** Runs `work` in only one process at a time. */
  lock<T>(name: string, work: (held: Held) => Promise<T>): Promise<T>;
  now?: (() => number) | undefined;
  onWarning?: ((message: string) => void) | undefined;
}

/** The vault's content while the lock is held. */
export interface OpenVault {
  document: VaultDocument;
  held: Held;
  /** Writes the document. */
  save(): Promise<void>;
}

/** Reads and writes the vault file. Any process can read it at any time; only one changes it at a time. */
export class VaultStorage {
  readonly path: string;
  readonly #options: VaultStorageOptions;

  constructor(options: VaultStorageOptions) {
    this.#options = options;
    this.path = join(options.folder, "vault.json");
  }

  /** Needs no lock, because the file is replaced atomically; only moving a damaged file aside needs one. */
  async read(): Promise<VaultDocument> {
    return this.#parse() ?? this.change(async ({ document }) => document);
  }

  /** Runs `work` with the current document while holding the lock; nothing is written unless it calls `save`. */
  change<T>(work: (vault: OpenVault) => Promise<T>): Promise<T> {
    return this.#options.lock("vault", async (held) => {
      const document = this.#parse() ?? (await this.#moveAside(held));
      const save = () => writePrivateFile(this.path, formatVault(document), held);
      return work({ document, held, save });
    });
  }

  /** Undefined if the file is damaged. */
  #parse(): VaultDocument | undefined {
    const text = readPrivateFile(this.path);
    if (text === undefined) return emptyVault();
    const parsed = parseVault(text);
    if (parsed.kind === "vault") return parsed.document;
    if (parsed.kind === "corrupt") return undefined;
    const hint = "Update Plugboard; the vault was not changed.";
    throw vaultError("newer", this.path, `The vault ${this.path} was written by a newer Plugboard.`, hint);
  }

  async #moveAside(held: Held): Promise<VaultDocument> {
    const { folder, now = Date.now, onWarning } = this.#options;
    const aside = join(folder, `vault.corrupt-${new Date(now()).toISOString().replace(/\W/g, "")}`);
    await assertHeld(held);
    try {
      renameSync(this.path, aside);
    } catch (error) {
      throw unwritable(this.path, error);
    }
    onWarning?.(
      `The vault ${this.path} was damaged and has been moved to ${aside}. Set your secrets and log in again.`,
    );
    return emptyVault();
  }
}
