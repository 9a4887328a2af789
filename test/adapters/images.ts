/** Beginnings of images of a size, as base64. Enough for those who read headers. */
export function pngOf(width: number, height: number, bytes = 64): string {
  const png = Buffer.alloc(bytes);
  png.write("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1");
  png.writeUInt32BE(width, 16);
  png.writeUInt32BE(height, 20);
  return png.toString("base64");
}

export function gifOf(width: number, height: number): string {
  const gif = Buffer.alloc(32);
  gif.write("GIF89a", "latin1");
  gif.writeUInt16LE(width, 6);
  gif.writeUInt16LE(height, 8);
  return gif.toString("base64");
}

/** With `comments` long segments before the size, as photographs have them. */
export function jpegOf(width: number, height: number, comments = 2): string {
  const comment = Buffer.alloc(2 + 60_001);
  comment.writeUInt16BE(0xff_fe, 0);
  comment.writeUInt16BE(60_001, 2);
  const frame = Buffer.from([0xff, 0xff, 0xc2, 0, 17, 8, 0, 0, 0, 0, 3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1]);
  frame.writeUInt16BE(height, 6);
  frame.writeUInt16BE(width, 8);
  const parts = [Buffer.from([0xff, 0xd8]), ...Array<Buffer>(comments).fill(comment), frame];
  return Buffer.concat(parts).toString("base64");
}

export function webpOf(width: number, height: number, kind: "VP8 " | "VP8L" | "VP8X"): string {
  const webp = Buffer.alloc(40);
  webp.write(`RIFF\0\0\0\0WEBP${kind}`, "latin1");
  if (kind === "VP8X") {
    webp.writeUIntLE(width - 1, 24, 3);
    webp.writeUIntLE(height - 1, 27, 3);
  } else if (kind === "VP8L") webp.writeUInt32LE((width - 1) | ((height - 1) << 14), 21);
  else {
    webp.writeUInt16LE(width, 26);
    webp.writeUInt16LE(height, 28);
  }
  return webp.toString("base64");
}
