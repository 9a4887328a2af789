import type { Socket } from "node:net";

/** What commands and the broker send each other: a byte that says what it is, four bytes of length, the content. */
export type FrameKind = "json" | "stdin" | "stdout" | "stderr";

const marks: Readonly<Record<FrameKind, number>> = { json: 1, stdin: 2, stdout: 3, stderr: 4 };
const kinds = new Map(Object.entries(marks).map(([kind, mark]) => [mark, kind as FrameKind]));
const headerBytes = 5;
const maxChunkBytes = 256 * 1024;
/** A command line and an environment are at most 2 MB on Linux; as JSON they take a little more. */
const maxFrameBytes = 8 * 1024 * 1024;

/** Returns false if the socket's buffer is full. */
export function sendBytes(socket: Socket, kind: Exclude<FrameKind, "json">, bytes: Buffer): boolean {
  let hasRoom = true;
  for (let at = 0; at < bytes.length; at += maxChunkBytes)
    hasRoom = sendFrame(socket, kind, bytes.subarray(at, at + maxChunkBytes));
  return hasRoom;
}

export function sendJson(socket: Socket, message: object): boolean {
  return sendFrame(socket, "json", Buffer.from(JSON.stringify(message)));
}

function sendFrame(socket: Socket, kind: FrameKind, bytes: Buffer): boolean {
  if (!socket.writable) return true;
  const header = Buffer.alloc(headerBytes);
  header[0] = marks[kind];
  header.writeUInt32BE(bytes.length, 1);
  socket.cork();
  socket.write(header);
  const hasRoom = socket.write(bytes);
  socket.uncork();
  return hasRoom;
}

/** Calls `onFrame` for everything that arrives. Whoever sends something else is not one of ours, and is left. */
export function readFrames(socket: Socket, onFrame: (kind: FrameKind, bytes: Buffer) => void): void {
  const reader = new FrameReader(onFrame);
  socket.on("data", (bytes: Buffer) => {
    try {
      reader.push(bytes);
    } catch {
      socket.destroy();
    }
  });
  // `close` follows, and tells whoever has to know.
  socket.on("error", () => undefined);
}

/** Splits what arrives into frames. Throws if it cannot be one of ours. */
export class FrameReader {
  readonly #onFrame: (kind: FrameKind, bytes: Buffer) => void;
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** How many bytes the next step needs. */
  #needed = headerBytes;
  #kind: FrameKind | undefined;

  constructor(onFrame: (kind: FrameKind, bytes: Buffer) => void) {
    this.#onFrame = onFrame;
  }

  push(chunk: Buffer): void {
    this.#pieces.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes < this.#needed) return;
    let rest = this.#pieces.length === 1 ? chunk : Buffer.concat(this.#pieces);
    while (rest.length >= this.#needed) {
      const taken = rest.subarray(0, this.#needed);
      rest = rest.subarray(this.#needed);
      if (this.#kind === undefined) this.#readHeader(taken);
      else this.#release(this.#kind, taken);
    }
    this.#pieces = rest.length > 0 ? [rest] : [];
    this.#bytes = rest.length;
  }

  #readHeader(header: Buffer): void {
    const kind = kinds.get(header[0] ?? 0);
    const length = header.readUInt32BE(1);
    if (kind === undefined || length > maxFrameBytes) throw new Error("not a frame");
    this.#kind = kind;
    this.#needed = length;
  }

  #release(kind: FrameKind, bytes: Buffer): void {
    this.#kind = undefined;
    this.#needed = headerBytes;
    this.#onFrame(kind, bytes);
  }
}
