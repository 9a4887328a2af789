import { PlugboardError } from "../../../errors.ts";
import type { HttpClient } from "./client.ts";

export interface StreamEvent {
  /** Empty for an ordinary message. */
  type: string;
  data: Buffer;
}

export interface EventStreamSettings {
  onEvent(event: StreamEvent): void;
  /** The maximum size of one event in bytes. */
  maxEventLength: number;
  /** Creates the error that `push` throws for a longer event. */
  tooLong(): Error;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const maxNameLength = "event".length;

/**
 * Parses server-sent events from chunks that may be split anywhere, in linear time. Data after the last blank line at
 * the end of the stream is dropped, so an incomplete event is never delivered.
 */
export class EventStreamParser {
  /** The id to resume from: the current one after the last complete event. */
  lastEventId: string | undefined;
  /** The reconnection time that the server sent. */
  retryMs: number | undefined;
  readonly #settings: EventStreamSettings;
  readonly #partial = new PartialLine();
  #begun = false;
  #skipLineFeed = false;
  #data: Buffer[] = [];
  #length = 0;
  #type = "";
  #id: string | undefined;

  constructor(settings: EventStreamSettings) {
    this.#settings = settings;
  }

  push(bytes: Buffer): void {
    if (bytes.length === 0) return;
    let from = this.#skipLineFeed && bytes[0] === lineFeed ? 1 : 0;
    this.#skipLineFeed = false;
    let feed = bytes.indexOf(lineFeed, from);
    let carriage = bytes.indexOf(carriageReturn, from);
    while (feed !== -1 || carriage !== -1) {
      const isReturn = carriage !== -1 && (feed === -1 || carriage < feed);
      const end = isReturn ? carriage : feed;
      this.#line(this.#partial.with(bytes.subarray(from, end)));
      from = end + 1;
      if (isReturn) {
        if (from === bytes.length) this.#skipLineFeed = true;
        else if (bytes[from] === lineFeed) from++;
        carriage = bytes.indexOf(carriageReturn, from);
      }
      if (feed !== -1 && feed < from) feed = bytes.indexOf(lineFeed, from);
    }
    this.#partial.add(bytes.subarray(from));
    this.#check(this.#partial.length);
  }

  #line(whole: Buffer): void {
    const line = this.#begun ? whole : withoutByteOrderMark(whole);
    this.#begun = true;
    if (line.length === 0) return this.#dispatch();
    const colon = line.indexOf(":");
    const nameEnd = colon === -1 ? line.length : colon;
    if (colon === 0 || nameEnd > maxNameLength) return;
    const value = line.subarray(
      colon === -1 ? line.length : line[colon + 1] === 0x20 ? colon + 2 : colon + 1,
    );
    this.#field(line.toString("latin1", 0, nameEnd), value);
  }

  #field(name: string, value: Buffer): void {
    if (name === "data") {
      this.#data.push(value);
      this.#length += value.length + 1;
      this.#check(0);
    } else if (name === "event") {
      this.#type = value.toString();
    } else if (name === "id") {
      if (!value.includes(0)) this.#id = value.toString();
    } else if (name === "retry" && /^\d+$/.test(value.toString("latin1"))) {
      this.retryMs = Number(value.toString("latin1"));
    }
  }

  #dispatch(): void {
    const [first, ...more] = this.#data;
    const type = this.#type;
    if (this.#id !== undefined) this.lastEventId = this.#id;
    this.#type = "";
    if (first === undefined) return;
    this.#data = [];
    this.#length = 0;
    const data = more.length === 0 ? first : joined(first, more);
    this.#settings.onEvent({ type, data });
  }

  #check(more: number): void {
    if (this.#length + more > this.#settings.maxEventLength) throw this.#settings.tooLong();
  }
}

/** The event limit for all streams of a server. */
export function eventLimit({
  server,
  limits,
}: HttpClient): Pick<EventStreamSettings, "maxEventLength" | "tooLong"> {
  const maxEventLength = limits.maxBodyBytes;
  const message = `"${server}" sent an event of more than ${maxEventLength} bytes.`;
  return { maxEventLength, tooLong: () => new PlugboardError("output-too-large", message, { server }) };
}

/** True if the event contains a message; other types are keep-alives and similar. */
export function isMessageEvent({ type, data }: StreamEvent): boolean {
  return data.length > 0 && (type === "" || type === "message");
}

/** A line whose end has not arrived. Its buffer doubles when full, so one-byte chunks do not take quadratic time. */
class PartialLine {
  length = 0;
  #bytes = Buffer.alloc(0);

  add(more: Buffer): void {
    if (more.length === 0) return;
    const length = this.length + more.length;
    if (length > this.#bytes.length) {
      const grown = Buffer.allocUnsafe(Math.max(256, length, this.#bytes.length * 2));
      this.#bytes.copy(grown, 0, 0, this.length);
      this.#bytes = grown;
    }
    more.copy(this.#bytes, this.length);
    this.length = length;
  }

  /** Returns the whole line, ending with this last chunk. */
  with(last: Buffer): Buffer {
    if (this.length === 0) return last;
    this.add(last);
    const line = this.#bytes.subarray(0, this.length);
    this.#bytes = Buffer.alloc(0);
    this.length = 0;
    return line;
  }
}

function withoutByteOrderMark(line: Buffer): Buffer {
  const hasMark = line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf;
  return hasMark ? line.subarray(3) : line;
}

function joined(first: Buffer, more: readonly Buffer[]): Buffer {
  const between = Buffer.of(lineFeed);
  return Buffer.concat([first, ...more.flatMap((line) => [between, line])]);
}
