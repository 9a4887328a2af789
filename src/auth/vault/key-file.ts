import type { Held } from "../../lib/held.ts";
import { vaultError } from "./error.ts";
import { readPrivateFile, writePrivateFile } from "./file.ts";

export interface KeptKey {
  id: string;
  key: Buffer;
}

const line = /^plugboard-vault-key 1 ([0-9a-f]{16}) ([A-Za-z0-9+/]{43}=)\n?$/;

/** The key next to the vault. It protects backups and synced folders from exposing secrets, but not from this user's programs. */
export function readKeyFile(path: string): KeptKey | undefined {
  const text = readPrivateFile(path);
  if (text === undefined) return undefined;
  const [, id, key] = line.exec(text) ?? [];
  if (id !== undefined && key !== undefined) return { id, key: Buffer.from(key, "base64") };
  throw vaultError(
    "wrong-key",
    path,
    `The key file ${path} is damaged or was written by a newer Plugboard.`,
    "Restore it from a backup, or move it away to start with a new key; Plugboard did not change it.",
  );
}

export async function writeKeyFile(path: string, { id, key }: KeptKey, held: Held): Promise<void> {
  await writePrivateFile(path, `plugboard-vault-key 1 ${id} ${key.toString("base64")}\n`, held);
}
