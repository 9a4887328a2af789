import { mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Keychain } from "../../src/auth/vault/keychain.ts";
import { createVault } from "../../src/auth/vault/vault.ts";
import type { Vault } from "../../src/auth/vault/vault.ts";

export interface OpenedVault extends Vault {
  warnings: string[];
}

export interface VaultSetting {
  folder: string;
  env?: Record<string, string>;
  keychain?: Keychain | undefined;
  now?: () => number;
}

/** The vault as one process sees it: opening it again is another process. */
export function openVault({ folder, env = {}, keychain, now }: VaultSetting): OpenedVault {
  const warnings: string[] = [];
  let last: Promise<unknown> = Promise.resolve();
  const vault = createVault({
    folder,
    env,
    keychain,
    now,
    lock: (_name, work) => {
      const turn = last.then(() => work({ signal: new AbortController().signal }));
      last = turn.catch(() => undefined);
      return turn;
    },
    onWarning: (message) => warnings.push(message),
  });
  return { ...vault, warnings };
}

export function vaultFolder(): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "plugboard-vault-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 20 }));
  return join(root, "state", "vault");
}

/** A keychain that is locked, unlocked and taken away by a test; each process opens it for itself. */
export class FakeKeychain {
  readonly entries = new Map<string, string>();
  isLocked = false;

  open(): Keychain {
    let usable: boolean | undefined;
    return {
      read: async (account) => (this.isLocked ? undefined : this.entries.get(account)),
      write: async (account, value) => !this.isLocked && Boolean(this.entries.set(account, value)),
      remove: async (account) => void this.entries.delete(account),
      isUsable: async () => (usable ??= !this.isLocked),
    };
  }
}

/** Every file below a folder that holds one of these texts, plainly or in base64 or hex. */
export function filesWith(folder: string, texts: string[]): string[] {
  const forms = texts.flatMap((text) => {
    const bytes = Buffer.from(text);
    return [text, bytes.toString("base64").replace(/=+$/, ""), bytes.toString("hex")];
  });
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => {
      const text = readFileSync(path, "latin1");
      return forms.some((form) => text.includes(form));
    });
}
