import { readPrivateFile, writePrivateFile } from "../auth/vault/file.ts";
import { PlugboardError, isPlugboardError } from "../errors.ts";
import type { Held } from "../lib/held.ts";

export interface KeptKeyOptions {
  file: string;
  /** What it is, at the beginning of a message. */
  what: string;
  /** What it begins with. */
  prefix: string;
  /** Replace the stored key. */
  renew?: boolean | undefined;
  /** What to do about a file with something else in it. */
  corruptHint: string;
  /** What to do if it cannot be stored, beside looking at its folder. */
  unwritableHint?: string | undefined;
  lock<T>(name: string, work: (held: Held) => Promise<T>): Promise<T>;
}

export interface KeptKey {
  key: string;
  /** True if it was made by this call. */
  isNew: boolean;
}

/** A random key in a file that only this user reads. It is made when it is first needed, once for all processes. */
export async function keptKey(options: KeptKeyOptions): Promise<KeptKey> {
  const { file, what, prefix, renew, lock } = options;
  const stored = renew ? undefined : read(options);
  if (stored !== undefined) return { key: stored, isNew: false };
  const name = `gateway-${prefix === "pb" ? "token" : prefix}`;
  return lock(name, async (held) => {
    // Another process may have made it meanwhile.
    const found = renew ? undefined : read(options);
    if (found !== undefined) return { key: found, isNew: false };
    const { randomBytes } = process.getBuiltinModule("node:crypto");
    const key = `${prefix}_${randomBytes(32).toString("base64url")}`;
    await writePrivateFile(file, `${key}\n`, held, what);
    return { key, isNew: true };
  }).catch((error: unknown) => {
    throw unwritable(options, error);
  });
}

function read({ file, what, prefix, corruptHint }: KeptKeyOptions): string | undefined {
  const key = readPrivateFile(file, what)?.trim();
  if (key === undefined || (key.startsWith(`${prefix}_`) && /^[a-z]+_[\w-]{43}$/.test(key))) return key;
  const message = `${file} does not contain ${what.replace("The gateway's", "a")} of the gateway.`;
  throw new PlugboardError("store-unavailable", message, {
    data: { reason: "corrupt", path: file },
    hint: corruptHint,
  });
}

function unwritable({ file, what, unwritableHint }: KeptKeyOptions, error: unknown): unknown {
  if (isPlugboardError(error) && error.reason === "unsafe") return error;
  return new PlugboardError("store-unavailable", `${what} cannot be stored in ${file}.`, {
    cause: error,
    data: { reason: "unwritable", path: file },
    hint: `Check the permissions and free space of its folder${unwritableHint === undefined ? "" : `, or ${unwritableHint}`}.`,
  });
}

/** The value of a variable that is used in place of a stored key. It is sent in a header, and it is all that keeps others out. */
export function usableKey(key: string, variable: string): string {
  if (/^[\x21-\x7e]{16,1024}$/.test(key)) return key;
  throw new PlugboardError(
    "usage-invalid",
    `${variable} is not a usable token: it needs 16 to 1,024 characters, all of them visible ASCII and no spaces.`,
    { hint: `Unset ${variable} to use the stored token, or set it to a long random text.` },
  );
}
