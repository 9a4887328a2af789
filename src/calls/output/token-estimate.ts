/**
 * Estimates the number of tokens in `text` without a vocabulary: within 25 % of o200k for prose, code, JSON, Chinese,
 * hex and base64. (Characters / 4 is 60 % too low for Chinese and hex.) Long texts are sampled, so 50 MB take no longer
 * than 1 MB; where the samples give less than `exactBelow`, everything is measured, because text between them could
 * affect a limit.
 */
export function estimateTokens(text: string, exactBelow = 200_000): number {
  if (text.length <= sampleCount * sampleLength) return measureAll(text);
  const estimate = sample(text, sampleCount, sampleLength);
  return estimate < exactBelow ? measureAll(text) : Math.ceil(estimate);
}

/** A rough estimate from a few characters of each kilobyte, where nothing depends on it but a note. */
export function guessTokens(text: string): number {
  const samples = Math.ceil(text.length / 1_024);
  return samples === 0 ? 0 : sample(text, samples, Math.min(glanceLength, text.length / samples));
}

const sampleCount = 128;
const sampleLength = 512;
const glanceLength = 48;

function sample(text: string, count: number, length: number): number {
  let tokens = 0;
  let read = 0;
  const stride = text.length / count;
  for (let at = 0; at < count; at++) {
    const from = Math.floor(at * stride);
    const measured = measure(text, from, Math.min(text.length, Math.ceil(from + length)));
    tokens += measured.tokens;
    read += measured.end - from;
  }
  return (tokens * text.length) / read;
}

function measureAll(text: string): number {
  return Math.ceil(measure(text, 0, text.length).tokens);
}

export interface Measure {
  tokens: number;
  /** Where measuring stopped: at `to`, or after the piece that reached `limit`. */
  end: number;
}

/**
 * Estimates `text.slice(from, to)` without copying it. Splits text the way tokenizers do before the vocabulary lookup:
 * words with the space before them, at most three digits, runs of punctuation, runs of white space.
 */
export function measure(text: string, from: number, to: number, limit = Infinity): Measure {
  let tokens = 0;
  let at = from;
  let wordStart = from;
  let pieces = 0;
  let before = space;
  while (at < to && tokens < limit) {
    const start = at;
    const code = text.charCodeAt(at++);
    const kind = kindOf[code];
    if (kind === wide) {
      tokens += wideTokens(code);
    } else if (kind === lower || kind === upper) {
      let extra = code < 0x80 ? 0 : extraWeight(code);
      // A piece is upper case, then lower case: `parse` and `HTTPHeader` are one piece, `parseHeader` is two.
      for (let small = kind === lower; at < to && at - start < maxRunLength; at++) {
        const letter = text.charCodeAt(at);
        const next = kindOf[letter];
        if (next === lower) small = true;
        else if (next !== upper || small) break;
        if (letter >= 0x80) extra += extraWeight(letter);
      }
      if (before !== lower && before !== digit) {
        wordStart = start;
        pieces = 0;
      }
      pieces++;
      const length = at - start;
      const isNoise = at - wordStart > 16 && at - wordStart < pieces * 4.5;
      tokens += isNoise ? noiseTokens(length) : pieceTokens(length + extra, kindOf[text.charCodeAt(at - 1)]);
    } else {
      while (at < to && at - start < maxRunLength && kindOf[text.charCodeAt(at)] === kind) at++;
      if (kind === digit) {
        if (before !== lower) {
          wordStart = start;
          pieces = 0;
        }
        pieces++;
      }
      tokens += runTokens(text, kind, start, at - start, before);
    }
    before = kind === upper ? lower : (kind ?? wide);
  }
  return { tokens, end: at };
}

const [space, newline, lower, upper, digit, punctuation, wide] = [0, 1, 2, 3, 4, 5, 6];

/** Keeps the estimate from exceeding a limit by much. */
const maxRunLength = 64;

const kindOf = new Uint8Array(65_536)
  .fill(wide)
  .fill(space, 0, 0x21)
  .fill(punctuation, 0x21, 0x80)
  .fill(digit, 0x30, 0x3a)
  .fill(upper, 0x41, 0x5b)
  .fill(lower, 0x61, 0x7b)
  .fill(lower, 0xc0, 0x0e00)
  .fill(lower, 0x1e00, 0x2000)
  .fill(newline, 0x0a, 0x0b)
  .fill(newline, 0x0d, 0x0e);

/** Words in other alphabets are split into shorter tokens than English words. */
function extraWeight(code: number): number {
  if (code < 0x250) return 4;
  if (code >= 0x400 && code < 0x530) return 0.55;
  return code >= 0x590 && code < 0x600 ? 1.7 : 1;
}

function pieceTokens(weight: number, lastKind: number | undefined): number {
  if (lastKind === upper) return weight <= 3 ? 1 : weight / 3;
  return weight <= 7 ? 1 : 1 + (weight - 7) / 5;
}

function noiseTokens(length: number): number {
  return length <= 1 ? 1 : 0.5 + length * 0.48;
}

function runTokens(
  text: string,
  kind: number | undefined,
  start: number,
  length: number,
  before: number,
): number {
  if (kind === digit) return Math.ceil(length / 3);
  // A single space belongs to the next word, a line end to the punctuation before it.
  if (kind === space) return length > 1 ? 1 : before === digit || before === space ? 0.3 : 0;
  if (kind === newline) return (before === punctuation ? 0 : 1) + (length >> 3);
  const first = text.charCodeAt(start);
  // `/usr`, `.ts`, `_id` and `-flag` are often one token.
  if (length === 1) return joins.has(first) && before !== space ? 0.6 : 1;
  if (length === 2) return 1;
  for (let at = start + 1; at < start + length; at++) if (text.charCodeAt(at) !== first) return length / 2.4;
  return 1 + (length >> 5);
}

const joins = new Set([0x2d, 0x2e, 0x2f, 0x5f]);

function wideTokens(code: number): number {
  if (code >= 0xd800 && code < 0xe000) return 0.9;
  if (code >= 0x3040 && code < 0x3100) return 0.65;
  if (code >= 0x4e00 && code < 0xa000) return 0.72;
  if (code >= 0xac00 && code < 0xd7b0) return 0.7;
  return code < 0x1100 ? 0.4 : 0.9;
}
