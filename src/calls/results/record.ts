import { isRecord } from "../../lib/record.ts";
import type { ResultPart } from "./document.ts";

/** The metadata of a stored result; its text is stored in chunks. */
export interface ResultRecord {
  /** A hash of the caller's id, or empty. */
  owner: string;
  server: string;
  tool: string;
  expiresAt: number;
  /** How many characters of the document were stored. */
  kept: number;
  viewEnd: number;
  parts: ResultPart[];
}

/** `undefined` for an invalid record, for instance from another version of the program. */
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
