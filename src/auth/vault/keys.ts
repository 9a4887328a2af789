import type { Keychain } from "./keychain.ts";
import { keyCheck, keyFromPassphrase, newKey, newSalt } from "./cipher.ts";
import type { KeyPlace, VaultDocument, VaultKey } from "./document.ts";
import { vaultError } from "./error.ts";
import { readKeyFile, writeKeyFile } from "./key-file.ts";

export interface KeySources {
  /** Of the vault, for messages. */
  path: string;
  keyFile: string;
  passphrase: string | undefined;
  keychain: Keychain | undefined;
}

export interface OpenKey {
  id: string;
  key: Buffer;
  about: VaultKey;
  /** Takes a key that was made just now back, when it turns out that nothing can be written. */
  discard?: () => Promise<void>;
}

const account = (id: string) => `vault-key/${id}`;

/**
 * The keys of one vault. Each is looked for where it was put and is kept in memory once found; a key that cannot be had
 * is an error and never an empty answer, because the records under it do exist.
 */
export class VaultKeys {
  readonly #sources: KeySources;
  readonly #found = new Map<string, Promise<Buffer>>();

  constructor(sources: KeySources) {
    this.#sources = sources;
  }

  /** Where this process would put a key now. */
  async #place(): Promise<KeyPlace> {
    const { passphrase, keychain } = this.#sources;
    if (passphrase !== undefined) return "passphrase";
    return (await keychain?.isUsable()) ? "keychain" : "file";
  }

  /** The key that opens what was sealed under `id`. */
  open(id: string, about: VaultKey): Promise<Buffer> {
    const known = this.#found.get(id);
    if (known) return known;
    const finding = this.#find(id, about);
    this.#found.set(id, finding);
    // A keychain may be unlocked later, and a key file put back.
    finding.catch(() => this.#found.delete(id));
    return finding;
  }

  /** The key for something new: one of the vault that is in the best place there is now, else a new one. */
  async forWriting({ keys, records }: VaultDocument): Promise<OpenKey> {
    const place = await this.#place();
    const isUsed = (id: string) => records.values().some(({ key }) => key === id);
    for (const [id, about] of [...keys].reverse()) {
      if (about.place !== place) continue;
      const key = await this.open(id, about).catch((error: unknown) => {
        // A key that does not fit is a mistake to correct; for one that is gone there has to be a new one.
        if (isWrongKey(error) && isUsed(id)) throw error;
        return undefined;
      });
      if (key) return { id, key, about };
    }
    return this.#make(place);
  }

  async #make(place: KeyPlace): Promise<OpenKey> {
    const { passphrase = "", keychain, keyFile } = this.#sources;
    let { id, key } = newKey();
    const salt = place === "passphrase" ? newSalt() : undefined;
    if (salt !== undefined) key = await keyFromPassphrase(passphrase, salt);
    else if (place === "keychain") {
      const isKept = await keychain?.write(account(id), key.toString("base64"));
      if (!isKept) return this.#make("file");
    } else {
      // The file outlives the vault: a key that is already there may still open what was set aside.
      const kept = readKeyFile(keyFile);
      if (kept) ({ id, key } = kept);
      else await writeKeyFile(keyFile, { id, key });
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
      `Unlock it if it was locked meanwhile; else restore its entry "${account(id)}", or set the secret or log in again.`,
    );
  }
  throw vaultError(
    "locked",
    path,
    `The key of the vault ${path} is in the keychain, which is ${keychain ? "locked or does not answer" : "not there in this session"}.`,
    "Unlock the keychain, or run this in your desktop session. Nothing is lost.",
  );
}

async function fromPassphrase({ passphrase, path }: KeySources, _id: string, { salt = "" }: VaultKey) {
  if (passphrase !== undefined) return keyFromPassphrase(passphrase, salt);
  throw vaultError(
    "locked",
    path,
    `The vault ${path} was sealed with a passphrase.`,
    "Set PLUGBOARD_VAULT_PASSPHRASE to it. Nothing is lost.",
  );
}

async function fromFile({ keyFile, path }: KeySources, id: string): Promise<Buffer> {
  const kept = readKeyFile(keyFile);
  if (kept?.id === id) return kept.key;
  const hint = `Put the right key file back from a backup, or move ${path} away to begin anew.`;
  if (kept) throw vaultError("wrong-key", path, `The key in ${keyFile} is not the one of ${path}.`, hint);
  throw vaultError("key-missing", path, `The key file ${keyFile} of the vault ${path} is gone.`, hint);
}

function wrongKey({ path, keyFile }: KeySources, place: KeyPlace) {
  const [what, hint] = {
    passphrase: ["PLUGBOARD_VAULT_PASSPHRASE is not the passphrase", "Set the right passphrase."],
    keychain: ["The key in the keychain is not the key", "Restore the keychain's entry from a backup."],
    file: [`The key in ${keyFile} is not the key`, "Put the right key file back from a backup."],
  }[place] as [string, string];
  return vaultError("wrong-key", path, `${what} of the vault ${path}; the vault was left as it is.`, hint);
}

function isWrongKey(error: unknown): boolean {
  return (error as { data?: { reason?: unknown } }).data?.reason === "wrong-key";
}
