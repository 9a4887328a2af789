import { isRecord } from "../../lib/record.ts";
import { recordsCheck } from "./cipher.ts";
import type { Sealed } from "./cipher.ts";

/** Where a key is stored. The records themselves are always in the vault file. */
export type KeyPlace = "keychain" | "passphrase" | "file";

export interface VaultKey {
  place: KeyPlace;
  /** For a key that is derived from a passphrase. */
  salt?: string;
  check: string;
}

export interface SealedRecord extends Sealed {
  /** The id of the key that opens it. */
  key: string;
}

/** The vault file. Record ids are hashes of names, so that it is known which records exist without opening them. */
export interface VaultDocument {
  keys: Map<string, VaultKey>;
  records: Map<string, SealedRecord>;
}

const currentVersion = 1;

export type ParsedVault =
  | { kind: "vault"; document: VaultDocument }
  | { kind: "newer" }
  | { kind: "corrupt" };

export function parseVault(text: string): ParsedVault {
  const value = parseJson(text);
  if (!isRecord(value) || typeof value["version"] !== "number") return { kind: "corrupt" };
  if (value["version"] > currentVersion) return { kind: "newer" };
  const { keys, records } = value;
  if (value["version"] !== currentVersion || !isRecord(keys) || !isRecord(records))
    return { kind: "corrupt" };
  const isWhole = Object.values(keys).every(isKey) && Object.values(records).every(isSealedRecord);
  // Encryption detects damage inside a record; this check detects a missing record, which would look like it never existed.
  if (!isWhole || value["check"] !== recordsCheck(Object.keys(records))) return { kind: "corrupt" };
  return {
    kind: "vault",
    document: {
      keys: new Map(Object.entries(keys as Record<string, VaultKey>)),
      records: new Map(Object.entries(records as Record<string, SealedRecord>)),
    },
  };
}

export function formatVault({ keys, records }: VaultDocument): string {
  const value = {
    version: currentVersion,
    check: recordsCheck([...records.keys()]),
    keys: Object.fromEntries(keys),
    records: Object.fromEntries(records),
  };
  return `${JSON.stringify(value, null, 1)}\n`;
}

export function emptyVault(): VaultDocument {
  return { keys: new Map(), records: new Map() };
}

function isKey(value: unknown): boolean {
  if (!isRecord(value) || typeof value["check"] !== "string") return false;
  const { place, salt } = value;
  return place === "keychain" || place === "file" || (place === "passphrase" && typeof salt === "string");
}

function isSealedRecord(value: unknown): boolean {
  return isRecord(value) && ["key", "nonce", "data"].every((field) => typeof value[field] === "string");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
