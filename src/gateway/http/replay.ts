import type { Chunk } from "./request.ts";

/** An event that a client may ask for again. */
export interface KeptEvent {
  sequence: number;
  chunks: readonly Chunk[];
  bytes: number;
  /** Tells its stream that it is not kept any longer. */
  onDropped(): void;
}

/** What an event takes beside its text. */
const overhead = 256;

export function keptBytes(chunks: readonly Chunk[]): number {
  let bytes = overhead;
  for (const chunk of chunks) bytes += Buffer.byteLength(chunk);
  return bytes;
}

/** All events that are kept for clients that come back. The oldest go first when it becomes too much. */
export class ReplayMemory {
  readonly #most: number;
  readonly #events = new Set<KeptEvent>();
  #bytes = 0;

  constructor(mostBytes: number) {
    this.#most = mostBytes;
  }

  get size(): number {
    return this.#events.size;
  }

  keep(event: KeptEvent): void {
    this.#events.add(event);
    this.#bytes += event.bytes;
    for (const oldest of this.#events) {
      if (this.#bytes <= this.#most) break;
      this.forget(oldest);
      oldest.onDropped();
    }
  }

  forget(event: KeptEvent): void {
    if (this.#events.delete(event)) this.#bytes -= event.bytes;
  }
}
