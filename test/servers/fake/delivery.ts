import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import { isFields } from "./protocol.ts";
import type { Bytes, Delivery, Script } from "./script.ts";

const KIBI = 1024;
const maxBytesOf = (limits: Script["limits"]): number => limits?.bytes ?? 256 * KIBI * KIBI;

/** Writes as the delivery says: repeated, cut, in pieces. `next` makes the bytes of each repetition. */
export async function deliver(
  next: () => Buffer,
  delivery: Delivery,
  limits: Script["limits"],
  write: (bytes: Buffer) => Promise<void>,
): Promise<void> {
  const { times = 1, everyMs = 0 } = delivery;
  const repetitions = times === "forever" ? Number.POSITIVE_INFINITY : times;
  const deadline = Date.now() + (limits?.ms ?? 60_000);
  const maxBytes = maxBytesOf(limits);
  let written = 0;
  for (let index = 0; index < repetitions; index++) {
    if (index > 0 && (written >= maxBytes || Date.now() >= deadline)) return;
    if (index > 0 && everyMs > 0) await pause(everyMs);
    // Only the microtask queue would run otherwise, and nothing that the client says could be heard.
    else if (index % 256 === 255) await nextTurn();
    const bytes = next();
    written += bytes.length;
    await writePieces(bytes, delivery, write);
  }
}

/** The same for bytes that do not change: what is repeated without a pause leaves in blocks. */
export async function deliverBytes(
  bytes: Buffer,
  delivery: Delivery,
  limits: Script["limits"],
  write: (bytes: Buffer) => Promise<void>,
): Promise<void> {
  const { times = 1, everyMs, cut, chunkBytes } = delivery;
  const whole = everyMs === undefined && cut === undefined && chunkBytes === undefined;
  const block = whole ? Math.floor(Math.min(64 * KIBI, maxBytesOf(limits)) / Math.max(1, bytes.length)) : 1;
  if (block <= 1 || times === 1) return deliver(() => bytes, delivery, limits, write);
  const repeated = Buffer.alloc(bytes.length * block, bytes);
  if (times === "forever") return deliver(() => repeated, { times }, limits, write);
  await deliver(() => repeated, { times: Math.floor(times / block) }, limits, write);
  return write(repeated.subarray(0, bytes.length * (times % block)));
}

async function writePieces(
  bytes: Buffer,
  delivery: Delivery,
  write: (bytes: Buffer) => Promise<void>,
): Promise<void> {
  const end = delivery.cut === undefined ? bytes.length : Math.floor(bytes.length * delivery.cut);
  const size = delivery.chunkBytes ?? bytes.length;
  const sizes = Array.isArray(size) ? [...size] : undefined;
  for (let start = 0; start < end;) {
    const length = Math.max(1, sizes === undefined ? Number(size) : (sizes.shift() ?? end));
    const stop = Math.min(end, start + length);
    await write(bytes.subarray(start, stop));
    start = stop;
    if (start < end) await (delivery.chunkDelayMs === undefined ? nextTurn() : pause(delivery.chunkDelayMs));
  }
}

/** The bytes of a script, and how they are encoded. */
export async function bytesOf(bytes: Bytes, id: unknown): Promise<{ bytes: Buffer; encoding?: string }> {
  if (typeof bytes === "string")
    return { bytes: Buffer.from(bytes.replaceAll("$id", JSON.stringify(id) ?? "null")) };
  if ("base64" in bytes) return { bytes: Buffer.from(bytes.base64, "base64") };
  if ("repeat" in bytes)
    return { bytes: Buffer.alloc(Buffer.byteLength(bytes.repeat) * bytes.times, bytes.repeat) };
  return { bytes: await bomb(bytes.bomb, bytes.bytes), encoding: bytes.bomb };
}

/** `$id` as a whole string becomes the id itself. */
export function withId(value: unknown, id: unknown): unknown {
  if (value === "$id") return id;
  if (Array.isArray(value)) return value.map((item) => withId(item, id));
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withId(item, id)]));
}

async function bomb(encoding: "gzip" | "br", size: number): Promise<Buffer> {
  const { createBrotliCompress, createGzip, constants } = await import("node:zlib");
  const packer =
    encoding === "gzip"
      ? createGzip()
      : createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
  const { Readable } = await import("node:stream");
  const block = Buffer.alloc(64 * KIBI);
  const blocks = function* (): Generator<Buffer> {
    for (let left = size; left > 0; left -= block.length)
      yield block.subarray(0, Math.min(left, block.length));
  };
  const packed: Buffer[] = [];
  for await (const piece of Readable.from(blocks()).pipe(packer)) packed.push(piece as Buffer);
  return Buffer.concat(packed);
}
