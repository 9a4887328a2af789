export interface Mention {
  server: string;
  uri: string;
  /** The position of the `@`. */
  start: number;
  /** The position after the last character of the mention. */
  end: number;
}

/**
 * Finds every `@server:uri` in a text, for servers with these names. A URI ends at white space, a quote or an unmatched
 * closing bracket, and does not include trailing punctuation. `@server:"a uri with spaces"` may be quoted. The `@` of
 * an e-mail address is not a mention.
 */
export function findMentions(text: string, servers: readonly string[]): Mention[] {
  const longestFirst = [...servers].sort((a, b) => b.length - a.length);
  const mentions: Mention[] = [];
  for (let start = text.indexOf("@"); start !== -1; start = text.indexOf("@", start + 1)) {
    if (start > 0 && isPartOfAddress(text, start - 1)) continue;
    const server = longestFirst.find((name) => name !== "" && text.startsWith(`${name}:`, start + 1));
    if (server === undefined) continue;
    const found = readUri(text, start + server.length + 2);
    if (found?.uri) mentions.push({ server, uri: found.uri, start, end: found.end });
    if (found) start = found.end - 1;
  }
  return mentions;
}

/** Longer than any URI that people type; limits the work for each `@`. */
const maxUriLength = 4096;

function isPartOfAddress(text: string, at: number): boolean {
  return /[\w\u00c0-\u024f.%+/@-]/.test(text[at] ?? "");
}

interface ReadUri {
  /** Empty if there is no plausible URI; the search then continues at `end`. */
  uri: string;
  end: number;
}

function readUri(text: string, from: number): ReadUri | undefined {
  const reachable = text.slice(from, from + maxUriLength + 2);
  const quote = reachable[0];
  return quote === '"' || quote === "'" ? readQuoted(reachable, from, quote) : readBare(reachable, from);
}

function readQuoted(reachable: string, from: number, quote: string): ReadUri | undefined {
  const close = reachable.indexOf(quote, 1);
  const uri = reachable.slice(1, close);
  return close < 2 || /[\r\n]/.test(uri) ? undefined : { uri, end: from + close + 1 };
}

function readBare(reachable: string, from: number): ReadUri {
  const open: string[] = [];
  let length = 0;
  for (const character of reachable) {
    const closes = closers[character];
    if (closes === undefined ? endsUri.test(character) : open.at(-1) !== closes) break;
    if (closes !== undefined) open.pop();
    else if (openers.has(character)) open.push(character);
    length += character.length;
  }
  if (length > maxUriLength) return { uri: "", end: from + length };
  const uri = withoutPunctuation(reachable.slice(0, length));
  return { uri, end: from + uri.length };
}

const closers: Record<string, string | undefined> = Object.assign(Object.create(null), {
  ")": "(",
  "]": "[",
  "}": "{",
  "\uff09": "\uff08",
  "】": "【",
  "」": "「",
});
const openers = new Set(Object.values(closers));
/** Includes the full stops and commas of scripts that put no space after them. */
const endsUri = /[\s<>"'`“”‘’«»。、\uff0c\uff01\uff1f\uff1b\p{Cc}]/u;
const trailing = new Set(".,;:!?…");

function withoutPunctuation(uri: string): string {
  let end = uri.length;
  while (end > 0 && trailing.has(uri[end - 1] ?? "")) end--;
  return uri.slice(0, end);
}
