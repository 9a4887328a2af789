/** The width and height of an image in pixels. */
export interface ImageSize {
  width: number;
  height: number;
}

/** No camera writes more segments before the size of a JPEG. */
const mostSegments = 1_000;

/**
 * The size of a PNG, JPEG, GIF or WebP as its header says; undefined if that cannot be read. `data` is plain base64, of
 * which only the bytes that are looked at are decoded.
 */
export function imageSize(data: string, mimeType: string): ImageSize | undefined {
  const size = sizeIn(mimeType, (from, count) => bytesOf(data, from, count));
  return size && size.width > 0 && size.height > 0 ? size : undefined;
}

/** Reads bytes at an offset; undefined where there are not as many. */
type Read = (from: number, count: number) => Buffer | undefined;

function sizeIn(mimeType: string, read: Read): ImageSize | undefined {
  if (mimeType === "image/png") return pngSize(read);
  if (mimeType === "image/gif") return gifSize(read);
  if (mimeType === "image/webp") return webpSize(read);
  return mimeType === "image/jpeg" ? jpegSize(read) : undefined;
}

function pngSize(read: Read): ImageSize | undefined {
  const header = read(12, 12);
  if (header?.toString("latin1", 0, 4) !== "IHDR") return undefined;
  return { width: header.readUInt32BE(4), height: header.readUInt32BE(8) };
}

function gifSize(read: Read): ImageSize | undefined {
  const screen = read(6, 4);
  return screen && { width: screen.readUInt16LE(0), height: screen.readUInt16LE(2) };
}

function webpSize(read: Read): ImageSize | undefined {
  const chunk = read(12, 18);
  const kind = chunk?.toString("latin1", 0, 4);
  if (chunk && kind === "VP8X")
    return { width: chunk.readUIntLE(12, 3) + 1, height: chunk.readUIntLE(15, 3) + 1 };
  if (chunk && kind === "VP8 ")
    return { width: chunk.readUInt16LE(14) & 0x3fff, height: chunk.readUInt16LE(16) & 0x3fff };
  if (!chunk || kind !== "VP8L") return undefined;
  const bits = chunk.readUInt32LE(9);
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
}

/** Goes from segment to segment until the one that begins a frame. */
function jpegSize(read: Read): ImageSize | undefined {
  let at = 2;
  for (let count = 0; count < mostSegments; count++) {
    const segment = read(at, 4);
    if (segment?.[0] !== 0xff) return undefined;
    const marker = segment[1] ?? 0;
    // Any number of 0xff may come before a marker.
    if (marker === 0xff) at++;
    else if (beginsFrame(marker)) {
      const frame = read(at + 5, 4);
      return frame && { width: frame.readUInt16BE(2), height: frame.readUInt16BE(0) };
    } else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)) at += 2;
    else at += 2 + segment.readUInt16BE(2);
  }
  return undefined;
}

function beginsFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
}

function bytesOf(data: string, from: number, count: number): Buffer | undefined {
  const first = Math.floor(from / 3);
  const last = Math.ceil((from + count) / 3);
  const bytes = Buffer.from(data.slice(first * 4, last * 4), "base64").subarray(from - first * 3);
  return bytes.length < count ? undefined : bytes.subarray(0, count);
}
