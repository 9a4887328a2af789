import type { Chunk, ReplyHeaders } from "./request.ts";

/** The headers of a stream of events. The last one tells nginx and its kind not to hold events back. */
export const streamHeaders: ReplyHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

/** A line that clients ignore. It keeps the connection open through whatever closes silent ones. */
export const keepAliveComment = ":\n\n";

/** One event with a message. Large results are not copied. */
export function eventChunks(message: readonly Chunk[], id?: string): Chunk[] {
  const head = id === undefined ? "data: " : `id: ${id}\ndata: `;
  return [head, ...message.flatMap(splitLines), "\n\n"];
}

/** Tells a client from which event to resume should the connection break, and how soon to try. */
export function primingEvent(id: string, retryMs: number): string {
  return `id: ${id}\nretry: ${retryMs}\ndata: \n\n`;
}

/** JSON of a server may have line breaks between its tokens. Each line of an event starts anew; readers join them. */
function splitLines(chunk: Chunk): Chunk[] {
  if (typeof chunk === "string") return [chunk];
  const parts: Chunk[] = [];
  let start = 0;
  for (let at = nextBreak(chunk, 0); at !== -1; at = nextBreak(chunk, start)) {
    parts.push(chunk.subarray(start, at), "\ndata: ");
    start = at + 1;
  }
  if (start === 0) return [chunk];
  parts.push(chunk.subarray(start));
  return parts;
}

function nextBreak(chunk: Buffer, from: number): number {
  const feed = chunk.indexOf(0x0a, from);
  const carriage = chunk.indexOf(0x0d, from);
  if (feed === -1 || carriage === -1) return Math.max(feed, carriage);
  return Math.min(feed, carriage);
}
