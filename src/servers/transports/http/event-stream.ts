import { StringDecoder } from "node:string_decoder";

export interface StreamEvent {
  /** Empty for an ordinary message. */
  type: string;
  data: string;
}

export interface EventStreamSettings {
  onEvent(event: StreamEvent): void;
  /** The most characters one event may have. */
  maxEventLength: number;
  /** Makes the error that `push` throws when an event is longer. */
  tooLong(): Error;
}

/**
 * Server-sent events from bytes that may be cut anywhere, in time linear to their number.
 * What follows the last blank line when the stream ends is not an event, so half an event is never delivered.
 */
export class EventStreamParser {
  /** Where to resume: the id in force after the last complete event. */
  lastEventId: string | undefined;
  /** What the server said about reconnecting. */
  retryMs: number | undefined;
  readonly #settings: EventStreamSettings;
  readonly #decoder = new StringDecoder("utf8");
  #begun = false;
  #skipLineFeed = false;
  #partial = "";
  #data: string[] = [];
  #length = 0;
  #type = "";
  #id: string | undefined;

  constructor(settings: EventStreamSettings) {
    this.#settings = settings;
  }

  push(bytes: Buffer): void {
    let text = this.#decoder.write(bytes);
    if (text === "") return;
    if (!this.#begun) {
      this.#begun = true;
      if (text.startsWith("\uFEFF")) text = text.slice(1);
    }
    let from = 0;
    if (this.#skipLineFeed && text.startsWith("\n")) from = 1;
    if (text !== "") this.#skipLineFeed = false;
    let lineFeed = text.indexOf("\n", from);
    let carriageReturn = text.indexOf("\r", from);
    while (lineFeed !== -1 || carriageReturn !== -1) {
      const isReturn = carriageReturn !== -1 && (lineFeed === -1 || carriageReturn < lineFeed);
      const end = isReturn ? carriageReturn : lineFeed;
      this.#line(this.#partial + text.slice(from, end));
      this.#partial = "";
      from = end + 1;
      if (isReturn) {
        if (from === text.length) this.#skipLineFeed = true;
        else if (text[from] === "\n") from++;
        carriageReturn = text.indexOf("\r", from);
      }
      if (lineFeed !== -1 && lineFeed < from) lineFeed = text.indexOf("\n", from);
    }
    this.#partial += text.slice(from);
    this.#check(this.#partial.length);
  }

  #line(line: string): void {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (name === "data") {
      this.#data.push(value);
      this.#length += value.length + 1;
      this.#check(0);
    } else if (name === "event") {
      this.#type = value;
    } else if (name === "id") {
      if (!value.includes("\u0000")) this.#id = value;
    } else if (name === "retry" && /^\d+$/.test(value)) {
      this.retryMs = Number(value);
    }
  }

  #dispatch(): void {
    const data = this.#data;
    const type = this.#type;
    if (this.#id !== undefined) this.lastEventId = this.#id;
    this.#type = "";
    if (data.length === 0) return;
    this.#data = [];
    this.#length = 0;
    this.#settings.onEvent({ type, data: data.length === 1 ? (data[0] ?? "") : data.join("\n") });
  }

  #check(more: number): void {
    if (this.#length + more > this.#settings.maxEventLength) throw this.#settings.tooLong();
  }
}
