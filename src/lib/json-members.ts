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
  let at = skipSpace(text, from, to);
  if (text[at] !== openBrace) return undefined;
  const members: JsonMember[] = [];
  at = skipSpace(text, at + 1, to);
  if (text[at] === closeBrace) return skipSpace(text, at + 1, to) === to ? members : undefined;
  for (;;) {
    if (text[at] !== quote) return undefined;
    const keyEnd = stringEnd(text, at, to);
    if (keyEnd === -1) return undefined;
    const key = readKey(text, at, keyEnd);
    at = skipSpace(text, keyEnd, to);
    if (key === undefined || text[at] !== colon) return undefined;
    const start = skipSpace(text, at + 1, to);
    const end = valueEnd(text, start, to);
    if (end === -1) return undefined;
    members.push({ key, start, end });
    at = skipSpace(text, end, to);
    if (text[at] === closeBrace) return skipSpace(text, at + 1, to) === to ? members : undefined;
    if (text[at] !== comma) return undefined;
    at = skipSpace(text, at + 1, to);
  }
}

/** Valid JSON without line breaks: they stand only between its tokens. */
export function oneLine(json: string): string {
  return json.replaceAll(/[\r\n]+/g, " ");
}

/** Whether an object at any depth of a valid JSON text names a key twice. */
export function hasDuplicateKeys(text: Buffer): boolean {
  const open: [start: number, end: number][] = [[skipSpace(text, 0, text.length), text.length]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [start, end] = next;
    const isObject = text[start] === openBrace;
    if (!isObject && text[start] !== openBracket) continue;
    const values = isObject ? jsonMembers(text, start, end) : jsonItems(text, start, end);
    const keys = new Set(isObject ? (values as JsonMember[]).map(({ key }) => key) : []);
    if (isObject && keys.size !== values?.length) return true;
    for (const value of values ?? []) open.push([value.start, value.end]);
  }
  return false;
}

/** The items of a list in a valid JSON text. */
function jsonItems(text: Buffer, from: number, to: number): { start: number; end: number }[] {
  const items: { start: number; end: number }[] = [];
  let at = skipSpace(text, from + 1, to);
  while (at < to && text[at] !== closeBracket) {
    const end = valueEnd(text, at, to);
    if (end === -1) return items;
    items.push({ start: at, end });
    at = skipSpace(text, end, to);
    if (text[at] === comma) at = skipSpace(text, at + 1, to);
  }
  return items;
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function isEnd(byte: number | undefined): boolean {
  return byte === comma || byte === closeBrace || byte === closeBracket;
}

function skipSpace(text: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && isSpace(text[at])) at++;
  return at;
}

/** The offset after the closing quote, or -1. */
function stringEnd(text: Buffer, open: number, to: number): number {
  for (let close = text.indexOf(quote, open + 1); close !== -1 && close < to;) {
    let first = close;
    while (text[first - 1] === backslash) first--;
    if ((close - first) % 2 === 0) return close + 1;
    close = text.indexOf(quote, close + 1);
  }
  return -1;
}

function valueEnd(text: Buffer, start: number, to: number): number {
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
  const raw = text.toString("utf8", start + 1, end - 1);
  if (!raw.includes("\\")) return raw;
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return undefined;
  }
}
