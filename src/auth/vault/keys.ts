import type { Held } from "../../lib/held.ts";
import type { Keychain } from "./keychain.ts";
import { keyCheck, keyFromPassphrase, newKey, newSalt } from "./cipher.ts";
import type { KeyPlace, VaultDocument, VaultKey } from "./document.ts";
import { vaultError } from "./error.ts";
import { readKeyFile, writeKeyFile } from "./key-file.ts";

export interface KeySources {
  /** The vault's path, for messages. */
  path: string;
  keyFile: string;
  passphrase: string | undefined;
  keychain: Keychain | undefined;
}

export interface OpenKey {
  id: string;
  key: Buffer;
  about: VaultKey;
  /** Removes a key that was just created, for when the vault then cannot be written. */
  discard?: () => Promise<void>;
}

const account = (id: string) => `vault-key/${id}`;

/**
 * The keys of one vault. Each is read from where it is stored, then cached in memory. A key that cannot be read is an
 * error, never an empty result, because the records encrypted with it do exist.
 */
export class VaultKeys {
  readonly #sources: KeySources;
  readonly #found = new Map<string, Promise<Buffer>>();

  constructor(sources: KeySources) {
    this.#sources = sources;
  }

  /** Where this process would store a new key. */
  async #placeForNewKey(): Promise<KeyPlace> {
    const { passphrase, keychain } = this.#sources;
    if (passphrase !== undefined) return "passphrase";
    return (await keychain?.isUsable()) ? "keychain" : "file";
  }

  /** Returns the key with this id. */
  open(id: string, about: VaultKey): Promise<Buffer> {
    const known = this.#found.get(id);
    if (known) return known;
    const finding = this.#find(id, about);
    this.#found.set(id, finding);
    // Not cached: a keychain may be unlocked later, or a key file restored.
    finding.catch(() => this.#found.delete(id));
    return finding;
  }

  /** The key for a new record: an existing key in the best available place, or else a new one. */
  async forWriting({ keys, records }: VaultDocument, held: Held): Promise<OpenKey> {
    const place = await this.#placeForNewKey();
    const isUsed = (id: string) => records.values().some(({ key }) => key === id);
    for (const [id, about] of [...keys].reverse()) {
      if (about.place !== place || !this.#isKept(id, about)) continue;
      const key = await this.open(id, about).catch((error: unknown) => {
        // A wrong key is a mistake to correct; a missing key is replaced by a new one.
        if (isWrongKey(error) && isUsed(id)) throw error;
        return undefined;
      });
      if (key) return { id, key, about };
    }
    return this.#create(place, held);
  }

  /** False if only this process still has the key: what it encrypts would be lost with it. */
  #isKept(id: string, { place }: VaultKey): boolean {
    if (place !== "file" || !this.#found.has(id)) return true;
    return readKeyFile(this.#sources.keyFile)?.id === id;
  }

  async #create(place: KeyPlace, held: Held): Promise<OpenKey> {
    const { passphrase = "", keychain, keyFile } = this.#sources;
    let { id, key } = newKey();
    const salt = place === "passphrase" ? newSalt() : undefined;
    if (salt !== undefined) key = await keyFromPassphrase(passphrase, salt);
    else if (place === "keychain") {
      const isKept = await keychain?.write(account(id), key.toString("base64"));
      if (!isKept) return this.#create("file", held);
    } else {
      // The key file outlives the vault: an existing key may still open a vault that was moved aside.
      const kept = readKeyFile(keyFile);
      if (kept) ({ id, key } = kept);
      else await writeKeyFile(keyFile, { id, key }, held);
    }
    this.#found.set(id, Promise.resolve(key));
    const about = { place, check: keyCheck(key, id), ...(salt !== undefined && { salt }) };
    if (place !== "keychain") return { id, key, about };
    return { id, key, about, discard: async () => keychain?.remove(account(id)) };
  }

  async #find(id: string, about: VaultKey): Promise<Buffer> {
    const key = await { keychain: fromKeychain, passphrase: fromPassphrase, file: fromFile }[about.place](
      this.#sources,
      id,
      about,
    );
    if (keyCheck(key, id) === about.check) return key;
    throw wrongKey(this.#sources, about.place);
  }
}

async function fromKeychain({ keychain, path }: KeySources, id: string): Promise<Buffer> {
  const value = await keychain?.read(account(id));
  if (value !== undefined) return Buffer.from(value, "base64");
  if (await keychain?.isUsable()) {
    throw vaultError(
      "key-missing",
      path,
      `The keychain does not have the key of the vault ${path}.`,
      `If the keychain is locked, unlock it. Otherwise restore its entry "${account(id)}", or set the secret or log in again.`,
    );
  }
  throw vaultError(
    "locked",
    path,
    `The key of the vault ${path} is in the keychain, which ${keychain ? "is locked or does not answer" : "is not available in this session"}.`,
    "Unlock the keychain, or run this in your desktop session. Nothing is lost.",
  );
}

async function fromPassphrase({ passphrase, path }: KeySources, _id: string, { salt = "" }: VaultKey) {
  if (passphrase !== undefined) return keyFromPassphrase(passphrase, salt);
  throw vaultError(
    "locked",
    path,
    `The vault ${path} is encrypted with a passphrase.`,
    "Set PLUGBOARD_VAULT_PASSPHRASE to this passphrase. Nothing is lost.",
  );
}

async function fromFile({ keyFile, path }: KeySources, id: string): Promise<Buffer> {
  const kept = readKeyFile(keyFile);
  if (kept?.id === id) return kept.key;
  const hint = `Restore the right key file from a backup, or move ${path} away to start with an empty vault.`;
  if (kept) throw vaultError("wrong-key", path, `The key in ${keyFile} is not the key of ${path}.`, hint);
  throw vaultError("key-missing", path, `The key file ${keyFile} of the vault ${path} is missing.`, hint);
}

function wrongKey({ path, keyFile }: KeySources, place: KeyPlace) {
  const [what, hint] = {
    passphrase: ["PLUGBOARD_VAULT_PASSPHRASE is not the passphrase", "Set the right passphrase."],
    keychain: ["The key in the keychain is not the key", "Restore the keychain entry from a backup."],
    file: [`The key in ${keyFile} is not the key`, "Restore the right key file from a backup."],
  }[place] as [string, string];
  return vaultError("wrong-key", path, `${what} of the vault ${path}; the vault was not changed.`, hint);
}

function isWrongKey(error: unknown): boolean {
  return (error as { data?: { reason?: unknown } }).data?.reason === "wrong-key";
}
