import { PlugboardError, isPlugboardError } from "../../errors.ts";
import { isRecord } from "../../lib/record.ts";

/** Why the vault does not answer, as `error.data.reason`. None of them means that there is no record. */
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

/** True when nothing is wrong but the place: a full disk, a read-only home, no home at all. */
export function isUnwritable(error: unknown): boolean {
  if (isPlugboardError(error, "store-unavailable")) {
    return error.reason === "unwritable" || error.reason === "full";
  }
  const code = isRecord(error) ? error["code"] : undefined;
  return typeof code === "string" && /^E(NOSPC|DQUOT|FBIG|ROFS|ACCES|PERM|IO|NOENT|NOTDIR)$/.test(code);
}

export function unwritable(path: string, error: unknown): PlugboardError {
  const hint = "Check the permissions and the free space of its folder; nothing was changed.";
  return vaultError("unwritable", path, `The vault ${path} cannot be written.`, hint, error);
}
