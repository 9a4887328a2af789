import { PlugboardError } from "../errors.ts";
import type { Environment } from "../lib/folders.ts";
import type { Held } from "../lib/held.ts";
import { keptKey, usableKey } from "./kept-key.ts";

/** What lets clients use this user's gateway. */
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

/** A token is kept until it is replaced, so that clients need to be told only once. */
export async function gatewayToken({ env, file, renew, lock }: GatewayTokenOptions): Promise<GatewayToken> {
  const given = env[tokenVariable];
  if (given !== undefined && given !== "") {
    if (renew) throw cannotRenew();
    return { token: usableKey(given, tokenVariable), isNew: false };
  }
  const { key: token, isNew } = await keptKey({
    file,
    renew,
    lock,
    what: "The gateway's token",
    prefix: "pb",
    corruptHint: "Make a new one with `plugboard serve --new-token`, and tell it to your clients.",
    unwritableHint: `set ${tokenVariable} to a token of your own`,
  });
  return { token, file, isNew };
}

function cannotRenew(): PlugboardError {
  return new PlugboardError("usage-invalid", `${tokenVariable} is set, so a new token would not be used.`, {
    hint: `Unset ${tokenVariable} first.`,
  });
}
