import { canonicalJson } from "../../lib/canonical.ts";
import { isRecord, own } from "../../lib/record.ts";
import type { ServerConfig } from "../server-schema.ts";

type Field = keyof ServerConfig;

/** What is started or contacted: it must be exactly ours. */
const target: readonly Field[] = ["type", "command", "args", "url"];
const onlyLocal: readonly Field[] = ["env", "inheritEnv", "cwd"];
const onlyRemote: readonly Field[] = ["headers", "headersFromEnv", "bearerTokenEnv", "headersHelper"];

/**
 * The fields in which a client's server differs from ours. `expected` is ours as the client expresses it. No
 * difference is what the client has no word for, what a person had to enter there by hand, what the client has in
 * addition, for example a variable that only it needs, or the very values that we have, such as secrets in plain text
 * that were imported from it.
 */
export function differences(ours: ServerConfig, expected: ServerConfig, theirs: ServerConfig): string[] {
  if (comparedFields(ours).every((field) => isSame(theirs[field], withType(ours)[field]))) return [];
  return comparedFields(expected).flatMap((field) =>
    differingParts(field, withType(ours)[field], expected[field], theirs[field]),
  );
}

/** Fields that are set, and those that such a server must not have. */
function comparedFields(config: ServerConfig): Field[] {
  const misplaced = config.url === undefined ? onlyRemote : onlyLocal;
  const set = (Object.keys(config) as Field[]).filter((field) => field !== "enabled");
  return [...new Set([...target, ...set, ...misplaced])];
}

function withType(config: ServerConfig): ServerConfig {
  return config.type !== undefined || config.url === undefined ? config : { ...config, type: "http" };
}

function differingParts(field: string, ours: unknown, expected: unknown, theirs: unknown): string[] {
  if (isSame(theirs, expected) || (ours !== undefined && isSame(theirs, ours))) return [];
  if (ours !== undefined && expected === undefined) return [];
  if (isPlaceholder(ours, expected)) return [];
  if ((field === "env" || field === "headers") && isRecord(expected)) {
    const there = isRecord(theirs) ? theirs : {};
    const members = isRecord(ours) ? ours : {};
    return Object.entries(expected).flatMap(([name, value]) =>
      differingParts(`${field}.${name}`, own(members, name), value, own(there, name)),
    );
  }
  if (Array.isArray(expected) && Array.isArray(theirs) && expected.length === theirs.length) {
    const words = Array.isArray(ours) && ours.length === expected.length ? (ours as unknown[]) : [];
    const there: unknown[] = theirs;
    const isDifferent = (expected as unknown[]).some(
      (word, index) => differingParts(field, words[index], word, there[index]).length > 0,
    );
    return isDifferent ? [field] : [];
  }
  return [field];
}

/** A value that the client cannot look up is written as our reference, as plain text for a person to replace. */
function isPlaceholder(ours: unknown, expected: unknown): boolean {
  return typeof expected === "string" && expected.includes("$${") && expected !== ours;
}

function isSame(a: unknown, b: unknown): boolean {
  return canonicalJson(a ?? null) === canonicalJson(b ?? null);
}
