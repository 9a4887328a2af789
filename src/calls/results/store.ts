import { randomBytes } from "node:crypto";
import { PlugboardError } from "../../errors.ts";
import { sha256 } from "../../lib/canonical.ts";
import type { Clock, Store } from "../../store/store.ts";
import type { ToolResult } from "../content/parts.ts";
import { type ResultPart, resultDocument } from "./document.ts";
import { readPage, type ReadingOptions, type ResultReading, searchText } from "./reading.ts";
import { parseRecord, type ResultRecord } from "./record.ts";

export interface ResultStore {
  /** Stores a whole result for a limited time, for this caller only. */
  save(whole: ToolResult, origin: ResultOrigin): Promise<string>;
  /** Reads a page or finds text. Another caller's handle gives the same error as an unknown one. */
  read(handle: string, options?: ReadOptions): Promise<KeptResult>;
}

export interface ResultOrigin {
  caller?: string | undefined;
  server: string;
  tool: string;
}

export interface ReadOptions extends ReadingOptions {
  caller?: string | undefined;
  /** One of `parts`; by default all text. Images and other media are returned as base64. */
  part?: string | undefined;
}

export interface KeptResult extends ResultReading {
  server: string;
  tool: string;
  parts: { part: string; kind: ResultPart["kind"]; mimeType?: string; uri?: string }[];
  /** True if the result was too large to store completely and the missing end belongs to this part. */
  isIncomplete: boolean;
}

export interface ResultStoreOptions {
  ttlMs?: number | undefined;
  now?: Clock | undefined;
  random?: ((bytes: number) => Uint8Array) | undefined;
  /** Only this many bytes of a result are stored. */
  maxBytes?: number | undefined;
}

const day = 86_400_000;
const chunkLength = 256 * 1024;

export function createResultStore(store: Store, options: ResultStoreOptions = {}): ResultStore {
  const { ttlMs = day, now = Date.now, random = randomBytes, maxBytes = 64 * 1024 * 1024 } = options;

  return {
    async save(whole, { caller, server, tool }) {
      const handle = `r_${base32(random(20))}`;
      const { text, viewEnd, parts } = resultDocument(whole);
      let kept = 0;
      let bytes = 0;
      while (kept < text.length) {
        const chunk = text.slice(kept, kept + chunkLength);
        bytes += Buffer.byteLength(chunk);
        if (bytes > maxBytes) break;
        await store.set(chunkKey(handle, kept / chunkLength), chunk, { ttlMs });
        kept += chunk.length;
      }
      // Written last, so that a handle finds either everything or nothing.
      const expiresAt = now() + ttlMs;
      const record: ResultRecord = { owner: ownerOf(caller), server, tool, expiresAt, kept, viewEnd, parts };
      await store.set(recordKey(handle), record, { ttlMs });
      return handle;
    },

    async read(handle, { caller, part, ...options } = {}) {
      const record = handlePattern.test(handle)
        ? parseRecord((await store.get(recordKey(handle)))?.value)
        : undefined;
      if (!record || record.owner !== ownerOf(caller) || record.expiresAt <= now()) throw unknownHandle();
      const { start, end } = part === undefined ? { start: 0, end: record.viewEnd } : findPart(record, part);
      const text = await loadText(store, handle, Math.min(start, record.kept), Math.min(end, record.kept));
      const reading =
        options.find === undefined ? readPage(text, options) : searchText(text, options.find, options);
      const { server, tool } = record;
      const parts = record.parts.map(({ start: _start, end: _end, ...named }) => named);
      return { ...reading, server, tool, parts, isIncomplete: end > record.kept };
    },
  };
}

const handlePattern = /^r_[a-z2-7]{20}$/;
const recordKey = (handle: string) => `result/${handle}`;
const chunkKey = (handle: string, number: number) => `result/${handle}/${String(number).padStart(4, "0")}`;

function base32(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => "abcdefghijklmnopqrstuvwxyz234567"[byte & 31]).join("");
}

/** Hashed because the caller's id may be sensitive. */
function ownerOf(caller: string | undefined): string {
  return caller === undefined ? "" : sha256(caller);
}

function unknownHandle(): PlugboardError {
  return new PlugboardError("usage-invalid", "There is no result with this handle for you", {
    hint: "Results are kept for a day, and only for the caller that received them. Call the tool again.",
  });
}

function findPart({ parts }: ResultRecord, name: string): ResultPart {
  const found = parts.find(({ part }) => part === name);
  if (found) return found;
  const known = parts.slice(0, 20).map(({ part }) => part);
  throw new PlugboardError(
    "usage-invalid",
    `The result has no such part; it has ${known.join(", ") || "none"}`,
    {
      hint: "Leave the part out to read all the text of the result.",
    },
  );
}

async function loadText(store: Store, handle: string, start: number, end: number): Promise<string> {
  const first = Math.floor(start / chunkLength);
  const chunks: string[] = [];
  for (let number = first; number * chunkLength < end; number++) {
    const chunk = (await store.get(chunkKey(handle, number)))?.value;
    if (typeof chunk !== "string") throw unknownHandle();
    chunks.push(chunk);
  }
  return chunks.join("").slice(start - first * chunkLength, end - first * chunkLength);
}
