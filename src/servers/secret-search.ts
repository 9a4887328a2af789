import { hidden } from "../lib/secret-words.ts";

/** Shorter values would also match ordinary words. */
const minLength = 4;
/** Shorter words are hidden only where they stand alone: a value `info` is not part of "information". */
const minInsideWord = 16;
/** Fragments of a token that are at least this long are hidden too, because texts get truncated. */
const minFragment = 12;
/** Every fragment contains the `gramLength` characters from a position that is a multiple of `stride`. */
const gramLength = 8;
const stride = minFragment - gramLength + 1;
/** A token that repeats itself is found by its first repetitions. */
const maxPlaces = 8;
const base = 0x01000193;
/** `base ** (gramLength - 1)` in 32 bits. */
const highest = Array.from({ length: gramLength - 1 }).reduce<number>((power) => Math.imul(power, base), 1);

interface Place {
  token: string;
  at: number;
}

/** Hides known secrets in texts, in time proportional to the text, however many secrets there are. */
export class SecretSearch {
  /** Longest first, so that a shorter one does not split a longer one. */
  readonly #words: readonly string[];
  /** Where tokens contain a sequence of characters, by its hash. */
  readonly #grams = new Map<number, Place[]>();

  constructor(values: readonly string[]) {
    const secrets = [...new Set(values.flatMap(parts))];
    const tokensIn = (secret: string) => secret.split(/[\s;,]+/).filter(isToken);
    const words = secrets.filter((secret) => tokensIn(secret).length === 0).flatMap(formsOf);
    const tokens = [...new Set(secrets.flatMap(tokensIn).flatMap(formsOf))];
    // With such a word hidden, what is left of the token is too short to be found.
    const split = tokens.filter((token) =>
      words.some((word) => word.length >= minLength && token.includes(word)),
    );
    this.#words = [...new Set([...words, ...split])]
      .filter((form) => form.length >= minLength)
      .sort((a, b) => b.length - a.length);
    // Judged before it is encoded: an encoded text looks like a token, and its fragments are ordinary words.
    for (const form of tokens) this.#index(form);
  }

  get isEmpty(): boolean {
    return this.#words.length === 0 && this.#grams.size === 0;
  }

  hide(text: string): string {
    return this.#hideTokens(this.#words.reduce(hideWord, text));
  }

  #index(token: string): void {
    for (let at = 0; at + gramLength <= token.length; at += stride) {
      let hash = 0;
      for (let index = at; index < at + gramLength; index++) hash = add(hash, token.charCodeAt(index));
      const places = this.#grams.get(hash);
      if (!places) this.#grams.set(hash, [{ token, at }]);
      else if (places.length < maxPlaces) places.push({ token, at });
    }
  }

  #hideTokens(text: string): string {
    if (this.#grams.size === 0) return text;
    let clean = "";
    let done = 0;
    let hash = 0;
    for (let index = 0; index < text.length; index++) {
      const from = index - gramLength + 1;
      if (from > 0) hash = (hash - Math.imul(text.charCodeAt(from - 1), highest)) | 0;
      hash = add(hash, text.charCodeAt(index));
      if (from < 0 || index < done) continue;
      const places = this.#grams.get(hash);
      const found = places && fragmentAt(text, from, done, places);
      if (!found) continue;
      // What follows another one directly is hidden together with it.
      if (found.start > done || done === 0) clean += text.slice(done, found.start) + hidden;
      done = found.end;
    }
    return done === 0 ? text : clean + text.slice(done);
  }
}

function add(hash: number, code: number): number {
  return (Math.imul(hash, base) + code) | 0;
}

/** The first fragment around `from` that is long enough and does not begin before `least`. */
function fragmentAt(
  text: string,
  from: number,
  least: number,
  places: readonly Place[],
): { start: number; end: number } | undefined {
  for (const { token, at } of places) {
    if (!text.startsWith(token.slice(at, at + gramLength), from)) continue;
    let [start, end] = [from, from + gramLength];
    const shift = at - from;
    while (start > least && start + shift > 0 && text[start - 1] === token[start - 1 + shift]) start--;
    while (end < text.length && end + shift < token.length && text[end] === token[end + shift]) end++;
    // A fragment that another one covers in part counts whole.
    const covered = start === least && least > 0 ? coveredBefore(text, start, start + shift, token) : 0;
    if (end - start + covered >= minFragment) return { start, end };
  }
  return undefined;
}

function coveredBefore(text: string, start: number, at: number, token: string): number {
  let length = 0;
  while (length < minFragment && length < at && text[start - 1 - length] === token[at - 1 - length]) length++;
  return length;
}

/** Hides a value wherever it stands alone, or anywhere if it is too long to be part of an ordinary word. */
function hideWord(text: string, word: string): string {
  if (!text.includes(word)) return text;
  if (word.length >= minInsideWord) return text.replaceAll(word, hidden);
  const isPart = (inner: string | undefined, outer: string | undefined) =>
    inner !== undefined && outer !== undefined && isLetter.test(inner) && isLetter.test(outer);
  return text.replaceAll(word, (found, at: number) =>
    isPart(word[0], text[at - 1]) || isPart(word.at(-1), text[at + word.length]) ? found : hidden,
  );
}

const isLetter = /[\p{L}\p{N}]/u;

/** The secrets in a header value: the whole value, the part after the scheme and its password, the cookie values. */
function parts(value: string): string[] {
  const [, scheme = "", credential = ""] = /^(\S+) (\S+)$/.exec(value) ?? [];
  const basic = /^basic$/i.test(scheme) ? Buffer.from(credential, "base64").toString("utf8") : "";
  const password = basic.slice(basic.indexOf(":") + 1);
  const pairs = value.includes("=") ? value.split(/;\s*/) : [];
  return [value, credential, basic, password, ...pairs.map((pair) => pair.slice(pair.indexOf("=") + 1))];
}

/** A secret as it is, in a URL, in a form, and in JSON. */
function formsOf(secret: string): string[] {
  const encoded = secret.isWellFormed() ? encodeURIComponent(secret) : secret;
  const inForm = new URLSearchParams([["", secret]]).toString().slice(1);
  const lowerCase = [encoded, inForm].map((form) =>
    form.replaceAll(/%[\dA-F]{2}/g, (code) => code.toLowerCase()),
  );
  return [secret, encoded, inForm, ...lowerCase, JSON.stringify(secret).slice(1, -1)];
}

/** True for a token; false for words, URLs and media types, whose fragments occur in many texts. */
function isToken(piece: string): boolean {
  return piece.length >= 16 && /\d/.test(piece) && /[a-z]/i.test(piece) && !piece.includes(":");
}
