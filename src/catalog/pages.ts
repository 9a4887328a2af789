import { PlugboardError } from "../errors.ts";
import { issuesInWords } from "../lib/issue-words.ts";
import { isRecord } from "../lib/record.ts";
import { ownAnswerHint } from "../servers/rpc/errors.ts";
import type { JsonRpcAnswer } from "../servers/rpc/messages.ts";
import { deepField, flattened } from "./deep-entry.ts";
import { hashEntry } from "./hashes.ts";
import { Slices } from "./slices.ts";

export interface PageLimits {
  pages: number;
  entries: number;
  bytes: number;
  ms: number;
}

export type PageLimit = keyof PageLimits;

export const defaultPageLimits: PageLimits = {
  pages: 1_000,
  entries: 100_000,
  bytes: 64_000_000,
  ms: 120_000,
};

export interface ReadList {
  /** The objects as the server sent them, including unknown fields. */
  entries: Record<string, unknown>[];
  /** One per entry. */
  hashes: string[];
  /** The size as JSON. */
  size: number;
  /** How long the list stays valid, according to the server. */
  ttlMs?: number;
  /** The limit that cut the list short. */
  cutBy?: PageLimit;
}

export function isPageLimit(value: unknown): value is PageLimit {
  return typeof value === "string" && Object.hasOwn(defaultPageLimits, value);
}

/** What a person is told about a list that was cut short. */
export function cutWords(kind: string, cutBy: PageLimit): string {
  const { pages, entries, bytes, ms } = defaultPageLimits;
  const limits = {
    pages: `${pages} pages`,
    entries: `${entries} entries`,
    bytes: `${bytes / 1_000_000} MB`,
    ms: `${ms / 1000} s`,
  };
  return `lists more ${kind} than Plugboard reads; reading stopped after ${limits[cutBy]}`;
}

/** Reads a paginated list. An empty cursor is a valid cursor; a repeated one is a loop. */
export async function readPages(
  server: string,
  member: string,
  ask: (params: Record<string, unknown>) => Promise<JsonRpcAnswer>,
  { limits = defaultPageLimits, now = Date.now }: { limits?: PageLimits; now?: () => number } = {},
): Promise<ReadList> {
  const entries: Record<string, unknown>[] = [];
  const hashes: string[] = [];
  const slices = new Slices();
  const seen = new Set<string>();
  const startedAt = now();
  let size = 0;
  let cursor: string | undefined;
  let ttlMs: number | undefined;
  const done = (cutBy?: PageLimit): ReadList => ({
    entries: entries.length > limits.entries ? entries.slice(0, limits.entries) : entries,
    hashes: hashes.length > limits.entries ? hashes.slice(0, limits.entries) : hashes,
    size,
    ...(ttlMs !== undefined && { ttlMs }),
    ...(cutBy && { cutBy }),
  });
  for (let page = 0; page < limits.pages; page++) {
    const result = readPage(server, member, await ask(cursor === undefined ? {} : { cursor }));
    const list = result[member] as unknown[];
    for (const entry of list) {
      if (!isRecord(entry)) continue;
      if (slices.isOver()) await slices.next();
      const fault = deepField(entry);
      const usable = fault === undefined ? entry : flattened(entry, fault);
      const hashed = hashEntry(usable);
      entries.push(usable);
      hashes.push(hashed.hash);
      size += hashed.size;
    }
    ttlMs = shorter(ttlMs, result["ttlMs"]);
    const next = result["nextCursor"];
    if (entries.length > limits.entries) return done("entries");
    if (typeof next !== "string") return done();
    if (seen.has(next))
      throw new PlugboardError("protocol-error", `"${server}" lists its ${member} in circles.`, { server });
    if (size > limits.bytes) return done("bytes");
    if (now() - startedAt > limits.ms) return done("ms");
    seen.add(next);
    cursor = next;
  }
  return done("pages");
}

function readPage(server: string, member: string, answer: JsonRpcAnswer): Record<string, unknown> {
  if ("error" in answer) {
    const { code, message } = answer.error;
    const text = `"${server}" could not list its ${member}: ${issuesInWords(message)} (${code}).`;
    throw new PlugboardError("protocol-error", text, {
      server,
      data: { rpcCode: code },
      hint: ownAnswerHint,
    });
  }
  if (Array.isArray(answer.result[member])) return answer.result;
  throw new PlugboardError("protocol-error", `"${server}" sent a result without a list of ${member}.`, {
    server,
  });
}

function shorter(known: number | undefined, said: unknown): number | undefined {
  if (typeof said !== "number" || !Number.isFinite(said)) return known;
  return Math.min(known ?? Infinity, Math.max(0, said));
}
