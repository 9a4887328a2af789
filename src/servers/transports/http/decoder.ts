import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

const decoders = new Map<string, () => Transform>([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress],
]);

/** The value of the `accept-encoding` request header. */
export const acceptEncoding = "gzip, deflate, br";

export interface DecoderEvents {
  data(chunk: Buffer): void;
  end(): void;
  error(error: Error): void;
}

/** Undefined for an encoding that was not requested. Decompresses in chunks, so a decompression bomb can be stopped. */
export function createDecoder(encoding: string, events: DecoderEvents): Transform | undefined {
  const decoder = decoders.get(encoding)?.();
  return decoder
    ?.on("data", (chunk: Buffer) => events.data(chunk))
    .on("end", () => events.end())
    .on("error", (error) => events.error(error));
}
