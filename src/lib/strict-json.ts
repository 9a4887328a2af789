/**
 * The offset after the JSON value that starts here, or -1 if it is not what `JSON.parse` would accept, or is nested
 * deeper than `maxDepth`. Nothing is copied or created, so this costs a fraction of parsing. That the bytes are UTF-8 is
 * for the caller to check.
 */
export function jsonValueEnd(text: Buffer, start: number, maxDepth: number): number {
  let at = start;
  const opening = text[start];
  if (opening === quote) return stringEnd(text, start);
  if (opening !== openBrace && opening !== openBracket) return scalarEnd(text, start);
  // The brackets that close what is open, the innermost last.
  const open: number[] = [];
  for (;;) {
    const first = text[at];
    if (first === openBrace || first === openBracket) {
      if (open.length >= maxDepth) return -1;
      const close = first === openBrace ? closeBrace : closeBracket;
      at = skipSpace(text, at + 1);
      if (text[at] !== close) {
        open.push(close);
        at = close === closeBrace ? memberStart(text, at) : at;
        if (at === -1) return -1;
        continue;
      }
      at++;
    } else {
      at = first === quote ? stringEnd(text, at) : scalarEnd(text, at);
      if (at === -1) return -1;
    }
    for (;;) {
      const close = open.at(-1);
      if (close === undefined) return at;
      at = skipSpace(text, at);
      const next = text[at++];
      if (next === close) {
        open.pop();
        continue;
      }
      if (next !== comma) return -1;
      at = skipSpace(text, at);
      at = close === closeBrace ? memberStart(text, at) : at;
      if (at === -1) return -1;
      break;
    }
  }
}

const [quote, backslash, comma, colon, minus, point] = [0x22, 0x5c, 0x2c, 0x3a, 0x2d, 0x2e];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];
const words = ["true", "false", "null"].map((word) => Buffer.from(word));

/** Bytes at which a string is not just going on: its end, an escape, a control character. A table is fast. */
const special = new Uint8Array(256).fill(1, 0, 0x20);
special[quote] = special[backslash] = 1;

/** Most strings end before, so that nothing has to be prepared for them. */
const shortBytes = 64;

/** What may follow a backslash, beside `u`. */
const escapes = new Uint8Array(256);
for (const byte of Buffer.from('"\\/bfnrt')) escapes[byte] = 1;

function skipSpace(text: Buffer, from: number): number {
  let at = from;
  for (let byte = text[at]; byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09; byte = text[at])
    at++;
  return at;
}

/** The offset of the value of an object's member whose key starts here. */
function memberStart(text: Buffer, keyStart: number): number {
  if (text[keyStart] !== quote) return -1;
  const keyEnd = stringEnd(text, keyStart);
  if (keyEnd === -1) return -1;
  const at = skipSpace(text, keyEnd);
  return text[at] === colon ? skipSpace(text, at + 1) : -1;
}

function stringEnd(text: Buffer, open: number): number {
  const soon = Math.min(text.length, open + shortBytes);
  let at = open + 1;
  while (at < soon) {
    const byte = text[at] as number;
    if (special[byte] === 0) at++;
    else if (byte === 0x22) return at + 1;
    else at = specialEnd(text, at, byte);
    if (at === -1) return -1;
  }
  return longStringEnd(text, at);
}

/** The same from within a string, four bytes at a time. */
function longStringEnd(text: Buffer, from: number): number {
  const { length, buffer, byteOffset } = text;
  const shift = byteOffset & 3;
  const words = new Int32Array(buffer, byteOffset - shift, (length + shift) >> 2);
  for (let at = from; at < length;) {
    const byte = text[at] as number;
    if (special[byte] === 0) {
      at++;
      if (((at + shift) & 3) === 0) at = (plainEnd(words, (at + shift) >> 2) << 2) - shift;
    } else if (byte === 0x22) return at + 1;
    else {
      at = specialEnd(text, at, byte);
      if (at === -1) return -1;
    }
  }
  return -1;
}

/** The first word that may hold a special byte. What looks like one in a higher byte is looked at again anyway. */
function plainEnd(words: Int32Array, from: number): number {
  const { length } = words;
  let at = from;
  while (at < length) {
    const word = words[at] as number;
    // Flipping this bit makes a quote less than 0x21, and nothing else that was not.
    const flipped = word ^ 0x02020202;
    const escaped = word ^ 0x5c5c5c5c;
    const below = (flipped - 0x21212121) & ~flipped;
    const isZero = (escaped - 0x01010101) & ~escaped;
    if (((below | isZero) & 0x80808080) !== 0) break;
    at++;
  }
  return at;
}

/** The offset after an escape, or -1: anything else does not belong into a string. */
function specialEnd(text: Buffer, at: number, byte: number): number {
  if (byte !== 0x5c) return -1;
  const next = text[at + 1] as number;
  if (escapes[next] === 1) return at + 2;
  return next === 0x75 && isHex(text, at + 2) ? at + 6 : -1;
}

function isHex(text: Buffer, start: number): boolean {
  for (let at = start; at < start + 4; at++) {
    const byte = text[at] ?? 0;
    const isDigit = byte >= 0x30 && byte <= 0x39;
    const lower = byte | 0x20;
    if (!isDigit && (lower < 0x61 || lower > 0x66)) return false;
  }
  return true;
}

/** A number or one of the three words. */
function scalarEnd(text: Buffer, start: number): number {
  for (const word of words)
    if (text[start] === word[0])
      return text.compare(word, 0, word.length, start, Math.min(text.length, start + word.length)) === 0
        ? start + word.length
        : -1;
  let at = text[start] === minus ? start + 1 : start;
  at = text[at] === 0x30 ? at + 1 : digitsEnd(text, at);
  if (at !== -1 && text[at] === point) at = digitsEnd(text, at + 1);
  if (at !== -1 && ((text[at] ?? 0) | 0x20) === 0x65) {
    const sign = text[at + 1];
    at = digitsEnd(text, sign === minus || sign === 0x2b ? at + 2 : at + 1);
  }
  return at;
}

function digitsEnd(text: Buffer, start: number): number {
  let at = start;
  for (let byte = text[at] ?? 0; byte >= 0x30 && byte <= 0x39; byte = text[at] ?? 0) at++;
  return at === start ? -1 : at;
}
