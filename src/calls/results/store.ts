import { parseExact } from "../../lib/exact-json.ts";
import { PlugboardError } from "../../errors.ts";
import type { Clock, Store } from "../../store/store.ts";
import { jsonText } from "../content/parts.ts";
import type { ToolResult } from "../content/parts.ts";
import { copiedText } from "../../lib/copied-text.ts";
import { randomHandle } from "../../lib/random-handle.ts";
import { ownerOf } from "../owned.ts";
import { type ResultPart, resultDocument } from "./document.ts";
import { ResultIndex, type ResultLimits, resultLimits } from "./limits.ts";
import { readPage, type ReadingOptions, type ResultReading, searchText } from "./reading.ts";
import { parseRecord, type ResultRecord } from "./record.ts";
import { selectValue } from "./select.ts";

export interface ResultStore {
  /** Stores a whole result for a limited time, for this caller only. Older ones go when there are too many. */
  save(whole: ToolResult, origin: ResultOrigin): Promise<string>;
  /** Reads a page or finds text. Another caller's handle gives the same error as an unknown one. */
  read(handle: string, options?: ReadOptions): Promise<KeptResult>;
  /** The text, or with `select` or the part `structured` a JSON value. Throws if it was not kept completely. */
  value(handle: string, options?: Selection & { caller?: string | undefined }): Promise<unknown>;
}

export interface ResultOrigin {
  caller?: string | undefined;
  server: string;
  tool: string;
  /** What structured content and text both contain, if that is known. */
  mirrored?: { value: unknown } | undefined;
}

/** Some of a result. */
export interface Selection {
  /** One of `parts`; by default all text. Images and other media are base64. */
  part?: string | undefined;
  /** JSON pointers into the part, or else into the structured content, or a text that is JSON. */
  select?: string | readonly string[] | undefined;
}

export interface ReadOptions extends ReadingOptions, Selection {
  caller?: string | undefined;
}

/** A page of a result that was too large, or the matches in it. */
export interface KeptResult extends ResultReading {
  server: string;
  tool: string;
  parts: { part: string; kind: ResultPart["kind"]; mimeType?: string; uri?: string }[];
  /** True if the result was too large to store completely and the missing end belongs to this part. */
  isIncomplete: boolean;
}

export interface ResultStoreOptions extends Partial<ResultLimits> {
  ttlMs?: number | undefined;
  now?: Clock | undefined;
  random?: ((bytes: number) => Uint8Array) | undefined;
}

const day = 86_400_000;
const chunkLength = 256 * 1024;

export function createResultStore(store: Store, options: ResultStoreOptions = {}): ResultStore {
  const { ttlMs = day, now = Date.now, random, ...limits } = options;
  const { maxBytes, ...rest } = { ...resultLimits, ...limits };
  const remove = async (handle: string, bytes: number) => {
    await store.delete(recordKey(handle));
    // A chunk has at least one byte for each of its characters, so there are no more than that.
    for (let number = 0; number * chunkLength <= bytes; number++)
      await store.delete(chunkKey(handle, number));
  };
  const index = new ResultIndex(store, { maxBytes, ...rest }, remove);

  const find = async (handle: string, caller: string | undefined): Promise<ResultRecord> => {
    const stored = handlePattern.test(handle) ? await store.get(recordKey(handle)) : undefined;
    const record = parseRecord(stored?.value);
    if (!record || record.owner !== ownerOf(caller) || record.expiresAt <= now()) throw unknownHandle();
    return record;
  };
  const load = async (handle: string, record: ResultRecord, { part, select }: Selection) => {
    const chosen = part ?? (select === undefined ? undefined : jsonPart(record));
    const { start, end } =
      chosen === undefined ? { start: 0, end: record.viewEnd } : findPart(record, chosen);
    const isIncomplete = end > record.kept;
    const text = await loadText(store, handle, Math.min(start, record.kept), Math.min(end, record.kept));
    if (select !== undefined && isIncomplete) throw incomplete();
    const isJson = select !== undefined || chosen === "structured";
    const value = isJson && !isIncomplete ? parseJson(text, chosen ?? "") : text;
    return { isIncomplete, value: select === undefined ? value : selectValue(value, select) };
  };

  return {
    async save(whole, { caller, server, tool, mirrored }) {
      const handle = randomHandle("r", random);
      const { text, viewEnd, parts } = resultDocument(whole, mirrored);
      const { chunks, bytes } = chunksOf(text, maxBytes);
      await index.add(ownerOf(caller), handle, bytes, now(), ttlMs);
      for (const [number, chunk] of chunks.entries())
        await store.set(chunkKey(handle, number), chunk, { ttlMs });
      // Written last, so that a handle finds either everything or nothing.
      const kept = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
      const expiresAt = now() + ttlMs;
      const record: ResultRecord = { owner: ownerOf(caller), server, tool, expiresAt, kept, viewEnd, parts };
      await store.set(recordKey(handle), record, { ttlMs });
      return handle;
    },

    async read(handle, { caller, part, select, ...reading } = {}) {
      const record = await find(handle, caller);
      const { value, isIncomplete } = await load(handle, record, { part, select });
      const text = typeof value === "string" && select === undefined ? value : jsonText(value, 2);
      const read =
        reading.find === undefined ? readPage(text, reading) : searchText(text, reading.find, reading);
      const { server, tool } = record;
      const parts = record.parts.map(({ start: _start, end: _end, ...named }) => named);
      return { ...read, server, tool, parts, isIncomplete };
    },

    async value(handle, { caller, ...selection } = {}) {
      const { value, isIncomplete } = await load(handle, await find(handle, caller), selection);
      if (isIncomplete) throw incomplete();
      return value;
    },
  };
}

/** The text in pieces, as far as it may be stored. */
function chunksOf(text: string, maxBytes: number): { chunks: string[]; bytes: number } {
  const chunks: string[] = [];
  let bytes = 0;
  for (let at = 0; at < text.length; at += chunkLength) {
    const chunk = text.slice(at, at + chunkLength);
    const size = Buffer.byteLength(chunk);
    if (bytes + size > maxBytes) return { chunks: chunks.map(copiedText), bytes };
    chunks.push(chunk);
    bytes += size;
  }
  return { chunks, bytes };
}

/** Where a value is looked for if nobody says: the structured content, or the only text. */
function jsonPart({ parts }: ResultRecord): string {
  const texts = parts.filter(({ kind }) => kind === "text" || kind === "resource");
  const found =
    parts.find(({ kind }) => kind === "structured") ?? (texts.length === 1 ? texts[0] : undefined);
  if (found) return found.part;
  throw new PlugboardError("usage-invalid", "The result has no structured content to select from", {
    advice: `Name the part to select from: ${names(parts)}.`,
  });
}

function parseJson(text: string, part: string): unknown {
  try {
    return parseExact(text);
  } catch (cause) {
    throw new PlugboardError("usage-invalid", `The part ${part} of the result is not JSON`, {
      advice: "Leave `select` out to read it as text.",
      cause,
    });
  }
}

function incomplete(): PlugboardError {
  return new PlugboardError("usage-invalid", "The result was too large to be kept completely", {
    advice: "Read what was kept page by page, or call the tool again for less.",
  });
}

function names(parts: readonly ResultPart[]): string {
  return (
    parts
      .slice(0, 20)
      .map(({ part }) => part)
      .join(", ") || "there is none"
  );
}

const handlePattern = /^r_[a-z2-7]{20}$/;
const recordKey = (handle: string) => `result/${handle}`;
const chunkKey = (handle: string, number: number) => `result/${handle}/${String(number).padStart(4, "0")}`;

function unknownHandle(): PlugboardError {
  return new PlugboardError("usage-invalid", "There is no result with this handle. It may have expired.", {
    advice:
      "A caller's results are kept for one day, the newest 100 and at most 32 MiB. Call the tool again.",
  });
}

function findPart({ parts }: ResultRecord, name: string): ResultPart {
  const found = parts.find(({ part }) => part === name);
  if (found) return found;
  throw new PlugboardError("usage-invalid", `The result has no such part; it has ${names(parts)}`, {
    advice: "Leave the part out to read all the text of the result.",
  });
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
