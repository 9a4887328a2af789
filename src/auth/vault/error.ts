import { PlugboardError, isPlugboardError } from "../../errors.ts";
import { isRecord } from "../../lib/record.ts";

/** Why the vault cannot be used, as `error.data.reason`. None of these means that a record does not exist. */
export type VaultProblem =
  | "unsafe"
  | "newer"
  | "corrupt"
  | "locked"
  | "key-missing"
  | "wrong-key"
  | "unwritable";

export function vaultError(
  reason: VaultProblem,
  path: string,
  message: string,
  hint: string,
  cause?: unknown,
): PlugboardError {
  return new PlugboardError("store-unavailable", message, { hint, cause, data: { reason, path } });
}

/** True if one record cannot be opened but the vault itself works. */
export function isUnreadableRecord(error: unknown): error is PlugboardError {
  const reasons: unknown[] = ["locked", "key-missing", "wrong-key", "corrupt"] satisfies VaultProblem[];
  return isPlugboardError(error, "store-unavailable") && reasons.includes(error.reason);
}

/** True if the only problem is that the vault itself cannot be written: a full disk, or a folder that is read-only or missing. */
export function isUnwritable(error: unknown, path: string): boolean {
  if (isPlugboardError(error)) return error.reason === "unwritable" && error.data?.["path"] === path;
  const code = isRecord(error) ? error["code"] : undefined;
  return typeof code === "string" && /^E(NOSPC|DQUOT|FBIG|ROFS|ACCES|PERM|IO|NOENT|NOTDIR)$/.test(code);
}

export function unwritable(path: string, error: unknown): PlugboardError {
  const hint = "Check the permissions and free space of its folder; nothing was changed.";
  return vaultError("unwritable", path, `The vault ${path} cannot be written to.`, hint, error);
}
