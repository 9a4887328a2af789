import { readPrivateFile, writePrivateFile } from "../auth/vault/file.ts";
import { PlugboardError, isPlugboardError } from "../errors.ts";
import type { Environment } from "../lib/folders.ts";
import type { Held } from "../lib/held.ts";

export interface GatewayToken {
  token: string;
  /** Where it is stored; absent if it comes from PLUGBOARD_TOKEN. */
  file?: string | undefined;
  /** True if it was made by this call. */
  isNew: boolean;
}

export interface GatewayTokenOptions {
  env: Environment;
  file: string;
  /** Replace the stored token. */
  renew?: boolean | undefined;
  lock<T>(name: string, work: (held: Held) => Promise<T>): Promise<T>;
}

export const tokenVariable = "PLUGBOARD_TOKEN";
const what = "The gateway's token";

/** A token is kept until it is replaced, so that clients need to be told only once. */
export async function gatewayToken({ env, file, renew, lock }: GatewayTokenOptions): Promise<GatewayToken> {
  const given = env[tokenVariable];
  if (given !== undefined && given !== "") {
    if (renew) throw cannotRenew();
    return { token: usable(given), isNew: false };
  }
  const stored = renew ? undefined : read(file);
  if (stored !== undefined) return { token: stored, file, isNew: false };
  return lock("gateway-token", async (held) => {
    // Another process may have made it meanwhile.
    const found = renew ? undefined : read(file);
    if (found !== undefined) return { token: found, file, isNew: false };
    const { randomBytes } = process.getBuiltinModule("node:crypto");
    const token = `pb_${randomBytes(32).toString("base64url")}`;
    await writePrivateFile(file, `${token}\n`, held, what);
    return { token, file, isNew: true };
  }).catch((error: unknown) => {
    throw unwritable(file, error);
  });
}

function read(file: string): string | undefined {
  const token = readPrivateFile(file, what)?.trim();
  if (token === undefined || /^pb_[\w-]{43}$/.test(token)) return token;
  throw new PlugboardError("store-unavailable", `${file} does not contain a token of the gateway.`, {
    data: { reason: "corrupt", path: file },
    hint: "Make a new one with `plugboard serve --new-token`, and tell it to your clients.",
  });
}

/** It is sent in a header, and it is all that keeps others out. */
function usable(token: string): string {
  if (/^[\x21-\x7e]{16,1024}$/.test(token)) return token;
  throw new PlugboardError(
    "usage-invalid",
    `${tokenVariable} is no usable token: it needs 16 to 1,024 characters, all of them visible ASCII and no spaces.`,
    { hint: `Unset ${tokenVariable} to use the stored token, or set it to a long random text.` },
  );
}

function cannotRenew(): PlugboardError {
  return new PlugboardError("usage-invalid", `${tokenVariable} is set, so a new token would not be used.`, {
    hint: `Unset ${tokenVariable} first.`,
  });
}

function unwritable(file: string, error: unknown): unknown {
  if (isPlugboardError(error) && error.reason === "unsafe") return error;
  return new PlugboardError("store-unavailable", `The gateway's token cannot be stored in ${file}.`, {
    cause: error,
    data: { reason: "unwritable", path: file },
    hint: `Check the permissions and free space of its folder, or set ${tokenVariable} to a token of your own.`,
  });
}
