import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { setTimeout } from "node:timers/promises";

/** Lines are written at most this often. */
const everyMs = 100;

/**
 * Calls `onText` with whatever is appended to a log from now on, until the signal is aborted. The file may be created
 * later, and be turned over meanwhile.
 */
export async function followLog(
  path: string,
  onText: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  let place = endOf(path);
  try {
    while (!signal.aborted) {
      place = readOn(place, path, onText);
      await setTimeout(everyMs, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    if (place) closeSync(place.file);
  }
}

interface Place {
  file: number;
  at: number;
  decoder: StringDecoder;
}

function endOf(path: string): Place | undefined {
  const place = begin(path);
  return place && { ...place, at: fstatSync(place.file).size };
}

function begin(path: string): Place | undefined {
  try {
    return { file: openSync(path, "r"), at: 0, decoder: new StringDecoder("utf8") };
  } catch {
    return undefined;
  }
}

/** Reads what is new. A file that was turned over is read to its end before the next one is opened. */
function readOn(place: Place | undefined, path: string, onText: (text: string) => void): Place | undefined {
  if (!place) {
    const first = begin(path);
    return first && readOn(first, path, onText);
  }
  const isCurrent = statSync(path, { throwIfNoEntry: false })?.ino === fstatSync(place.file).ino;
  const buffer = Buffer.alloc(64 * 1024);
  for (;;) {
    const bytes = readSync(place.file, buffer, 0, buffer.length, place.at);
    if (bytes === 0) break;
    place.at += bytes;
    onText(place.decoder.write(buffer.subarray(0, bytes)));
  }
  if (isCurrent) return place;
  closeSync(place.file);
  return readOn(undefined, path, onText);
}
