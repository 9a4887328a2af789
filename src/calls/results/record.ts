import { isRecord } from "../../lib/record.ts";
import type { ResultPart } from "./document.ts";

/** What the store knows about a kept result, beside its chunks of text. */
export interface ResultRecord {
  /** A hash of the caller, or empty. */
  owner: string;
  server: string;
  tool: string;
  expiresAt: number;
  /** How many characters of the document are stored. */
  kept: number;
  viewEnd: number;
  parts: ResultPart[];
}

/** `undefined` for what another version of the program may have written. */
export function parseRecord(value: unknown): ResultRecord | undefined {
  if (!isRecord(value) || !Array.isArray(value.parts) || !value.parts.every(isPart)) return undefined;
  const isSound =
    [value.owner, value.server, value.tool].every((field) => typeof field === "string") &&
    [value.expiresAt, value.kept, value.viewEnd].every(Number.isFinite);
  return isSound ? (value as unknown as ResultRecord) : undefined;
}

function isPart(value: unknown): boolean {
  return isRecord(value) && typeof value.part === "string" && [value.start, value.end].every(Number.isFinite);
}
