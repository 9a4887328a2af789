/** One member of a JSON object in a text: its key, and where its value starts and ends. */
export interface JsonMember {
  key: string;
  start: number;
  end: number;
}

/**
 * Finds the members of a JSON object without parsing or copying their values. Returns undefined if the text is not one
 * JSON object. The inside of a value is not checked, but a value never ends in the middle of a string or of its
 * brackets.
 */
export function jsonMembers(text: Buffer, from = 0, to = text.length): JsonMember[] | undefined {
  const members: JsonMember[] = [];
  const end = readMembers(text, skipSpace(text, from, to), to, members, (start) => valueEnd(text, start, to));
  return end !== -1 && skipSpace(text, end, to) === to ? members : undefined;
}

/** The same for the items of a JSON array. Stops after `most` of them and one more. */
export function jsonItems(text: Buffer, most: number): Pick<JsonMember, "start" | "end">[] | undefined {
  const to = text.length;
  let at = skipSpace(text, 0, to);
  if (text[at] !== openBracket) return undefined;
  const items: Pick<JsonMember, "start" | "end">[] = [];
  at = skipSpace(text, at + 1, to);
  while (text[at] !== closeBracket || items.length > 0) {
    const end = valueEnd(text, at, to);
    if (end === -1) return undefined;
    items.push({ start: at, end });
    if (items.length > most) return items;
    at = skipSpace(text, end, to);
    if (text[at] === closeBracket) break;
    if (text[at] !== comma) return undefined;
    at = skipSpace(text, at + 1, to);
  }
  return skipSpace(text, at + 1, to) === to ? items : undefined;
}

/**
 * Adds the members of the object that starts here. `endOf` says where the value of a member ends, or -1. Returns where
 * the object ends, or -1.
 */
export function readMembers(
  text: Buffer,
  from: number,
  to: number,
  members: JsonMember[],
  endOf: (start: number, key: string) => number,
): number {
  if (text[from] !== openBrace) return -1;
  let at = skipSpace(text, from + 1, to);
  if (text[at] === closeBrace) return at + 1;
  for (;;) {
    if (text[at] !== quote) return -1;
    const keyEnd = stringEnd(text, at, to);
    if (keyEnd === -1) return -1;
    const key = readKey(text, at, keyEnd);
    at = skipSpace(text, keyEnd, to);
    if (key === undefined || text[at] !== colon) return -1;
    const start = skipSpace(text, at + 1, to);
    const end = endOf(start, key);
    if (end === -1) return -1;
    members.push({ key, start, end });
    at = skipSpace(text, end, to);
    if (text[at] === closeBrace) return at + 1;
    if (text[at] !== comma) return -1;
    at = skipSpace(text, at + 1, to);
  }
}

/** The first member of this name. A loop: it is looked for several times in every message. */
export function memberOf(members: readonly JsonMember[], key: string): JsonMember | undefined {
  for (const member of members) if (member.key === key) return member;
  return undefined;
}

/** Whether a value is written just so: comparing costs less than making a string. */
export function isWritten(text: Buffer, member: JsonMember | undefined, as: Buffer): boolean {
  if (!member || member.end - member.start !== as.length) return false;
  for (let at = 0; at < as.length; at++) if (text[member.start + at] !== as[at]) return false;
  return true;
}

/** Valid JSON without line breaks: they stand only between its tokens. */
export function oneLine(json: string): string {
  return json.replaceAll(/[\r\n]+/g, " ");
}

/** Whether an object at any depth of a valid JSON text names a key twice. Takes one pass, however deep it is. */
export function hasDuplicateKeys(text: Buffer): boolean {
  // The keys of every object that is open; undefined for a list.
  const open: (Set<string> | undefined)[] = [];
  let isKeyNext = false;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at];
    const keys = open.at(-1);
    if (byte === quote) {
      const end = stringEnd(text, at, text.length);
      if (end === -1) return false;
      const key = keys && isKeyNext ? readKey(text, at, end) : undefined;
      if (key !== undefined && keys?.has(key)) return true;
      if (key !== undefined) keys?.add(key);
      isKeyNext = false;
      at = end - 1;
    } else if (byte === openBrace || byte === openBracket) {
      open.push(byte === openBrace ? new Set() : undefined);
      isKeyNext = byte === openBrace;
    } else if (byte === closeBrace || byte === closeBracket) open.pop();
    else if (byte === comma) isKeyNext = keys !== undefined;
  }
  return false;
}

/**
 * About how much memory a valid JSON text takes when it is parsed: an object of two bytes takes dozens. What is inside of
 * strings does not count twice.
 */
export function parsedBytes(text: Buffer): number {
  let tokens = 0;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at];
    if (byte === quote) at = stringEnd(text, at, text.length) - 1;
    else if (byte === comma || byte === colon || byte === openBrace || byte === openBracket) tokens++;
    if (at < 0) break;
  }
  return text.length + tokens * bytesPerToken;
}

/** A small object, a place in a list and a member take about as much for each of their tokens. */
const bytesPerToken = 32;

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function isEnd(byte: number | undefined): boolean {
  return byte === comma || byte === closeBrace || byte === closeBracket;
}

export function skipSpace(text: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && isSpace(text[at])) at++;
  return at;
}

/** Up to this length it costs less to look at each byte than to call the native search. */
const shortString = 32;

/** The offset after the closing quote, or -1. */
function stringEnd(text: Buffer, open: number, to: number): number {
  const near = Math.min(to, open + shortString);
  let at = open + 1;
  for (; at < near; at++) {
    const byte = text[at];
    if (byte === quote) return at + 1;
    if (byte === backslash) at++;
  }
  for (let close = text.indexOf(quote, at); close !== -1 && close < to;) {
    let first = close;
    while (text[first - 1] === backslash) first--;
    if ((close - first) % 2 === 0) return close + 1;
    close = text.indexOf(quote, close + 1);
  }
  return -1;
}

/** The offset after the value that starts here, or -1. Its inside is not checked. */
export function valueEnd(text: Buffer, start: number, to: number): number {
  const first = text[start];
  if (first === quote) return stringEnd(text, start, to);
  if (first !== openBrace && first !== openBracket) {
    let at = start;
    while (at < to && !isSpace(text[at]) && !isEnd(text[at])) at++;
    return at === start ? -1 : at;
  }
  let depth = 0;
  for (let at = start; at < to; at++) {
    const byte = text[at];
    if (byte === quote) {
      at = stringEnd(text, at, to) - 1;
      if (at < 0) return -1;
    } else if (byte === openBrace || byte === openBracket) depth++;
    else if ((byte === closeBrace || byte === closeBracket) && --depth === 0) return at + 1;
  }
  return -1;
}

function readKey(text: Buffer, start: number, end: number): string | undefined {
  const common = commonKeyAt(text, start + 1, end - 1);
  if (common !== undefined) return common;
  const raw = text.toString("utf8", start + 1, end - 1);
  if (!/[\\\0-\x1f]/.test(raw)) return raw;
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return undefined;
  }
}

/** The keys of nearly every message: comparing bytes costs less than making a string. No two share a place. */
const commonKeys: ({ key: string; bytes: Buffer } | undefined)[] = Array.from({ length: 1_024 });
for (const key of [
  "jsonrpc id method params result error name arguments _meta uri cursor",
  "content isError structuredContent resultType",
].flatMap((line) => line.split(" ")))
  commonKeys[place(key.length, key.charCodeAt(0))] = { key, bytes: Buffer.from(key) };

/** By length and first letter. */
function place(length: number, first: number): number {
  return ((length & 31) << 5) | (first & 31);
}

function commonKeyAt(text: Buffer, start: number, end: number): string | undefined {
  const common = commonKeys[place(end - start, text[start] ?? 0)];
  if (common === undefined || common.bytes.length !== end - start) return undefined;
  const { key, bytes } = common;
  for (let at = 0; at < bytes.length; at++) if (text[start + at] !== bytes[at]) return undefined;
  return key;
}
