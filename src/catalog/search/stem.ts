/**
 * Reduces an English word to its stem (the Porter2 algorithm, in our own words), so that `searches`, `searching` and
 * `searched` are one word. Expects lower-case letters; other words are returned as they are.
 */
export function stem(word: string): string {
  if (word.length < 3 || !/^[a-z']+$/.test(word)) return word;
  const fixed = exceptions.get(word);
  if (fixed !== undefined) return fixed;
  const marked = markConsonantY(word);
  const r1 = firstRegion(marked);
  const r2 = regionAfter(marked, r1);
  const singular = plural(marked.replace(/'s?'?$/, ""));
  if (invariants.has(singular)) return singular;
  const base = softenY(pastAndGerund(singular, r1));
  return finalLetter(shortEndings(derived(base, r1), r1, r2), r1, r2).toLowerCase();
}

const vowel = "[aeiouy]";
const shortSyllable = /(?:^|[^aeiouy])[aeiouy][^aeiouywxY]$|^[aeiouy][^aeiouy]$/;

/** Words that the rules get wrong, and technical words that they would confuse. */
const exceptions = new Map([
  ["skis", "ski"],
  ["skies", "sky"],
  ["dying", "die"],
  ["lying", "lie"],
  ["tying", "tie"],
  ["news", "news"],
  ["series", "series"],
  ["atlas", "atlas"],
  ["bias", "bias"],
  ["apis", "api"],
  ["analyses", "analyz"],
  ["analysis", "analyz"],
  ["analyse", "analyz"],
  ["analytics", "analyz"],
  ["status", "status"],
  ["statuses", "status"],
]);
const invariants = new Set([
  "inning",
  "outing",
  "canning",
  "herring",
  "earring",
  "proceed",
  "exceed",
  "succeed",
]);

/** A `y` that sounds like a consonant does not make a syllable. */
function markConsonantY(word: string): string {
  return word.replace(/^y/, "Y").replace(/([aeiouy])y/g, "$1Y");
}

function firstRegion(word: string): number {
  const known = /^(?:gener|commun|arsen)/.exec(word);
  return known ? known[0].length : regionAfter(word, 0);
}

/** Where the part begins that follows the first consonant after a vowel. */
function regionAfter(word: string, from: number): number {
  const found = /[aeiouy][^aeiouy]/.exec(word.slice(from));
  return found ? from + found.index + 2 : word.length;
}

function plural(word: string): string {
  if (word.endsWith("sses")) return word.slice(0, -2);
  if (/ie[sd]$/.test(word)) return word.length > 4 ? word.slice(0, -2) : word.slice(0, -1);
  if (/[us]s$/.test(word) || !word.endsWith("s")) return word;
  return /[aeiouy].+s$/.test(word) ? word.slice(0, -1) : word;
}

function pastAndGerund(word: string, r1: number): string {
  const eed = /eed(?:ly)?$/.exec(word);
  if (eed) return eed.index >= r1 ? `${word.slice(0, eed.index)}ee` : word;
  const ending = /(?:ed|edly|ing|ingly)$/.exec(word);
  const rest = ending ? word.slice(0, ending.index) : word;
  if (!ending || !new RegExp(vowel).test(rest)) return word;
  if (/(?:at|bl|iz)$/.test(rest)) return `${rest}e`;
  if (/(bb|dd|ff|gg|mm|nn|pp|rr|tt)$/.test(rest)) return rest.slice(0, -1);
  return rest.length <= r1 && shortSyllable.test(rest) ? `${rest}e` : rest;
}

function softenY(word: string): string {
  return word.length > 2 && /[^aeiouy][yY]$/.test(word) ? `${word.slice(0, -1)}i` : word;
}

/** The longest ending comes first. */
const derivations: readonly (readonly [string, string])[] = [
  ["ization", "ize"],
  ["ational", "ate"],
  ["fulness", "ful"],
  ["ousness", "ous"],
  ["iveness", "ive"],
  ["tional", "tion"],
  ["biliti", "ble"],
  ["lessli", "less"],
  ["entli", "ent"],
  ["ation", "ate"],
  ["alism", "al"],
  ["aliti", "al"],
  ["ousli", "ous"],
  ["iviti", "ive"],
  ["fulli", "ful"],
  ["enci", "ence"],
  ["anci", "ance"],
  ["abli", "able"],
  ["izer", "ize"],
  ["ator", "ate"],
  ["alli", "al"],
  ["bli", "ble"],
];

function derived(word: string, r1: number): string {
  for (const [ending, short] of derivations) {
    if (word.endsWith(ending))
      return word.length - ending.length >= r1 ? word.slice(0, -ending.length) + short : word;
  }
  if (word.endsWith("logi") && word.length - 3 >= r1) return word.slice(0, -1);
  return /[cdeghkmnrt]li$/.test(word) && word.length - 2 >= r1 ? word.slice(0, -2) : word;
}

const shortenings: readonly (readonly [string, string])[] = [
  ["ational", "ate"],
  ["tional", "tion"],
  ["alize", "al"],
  ["icate", "ic"],
  ["iciti", "ic"],
  ["ical", "ic"],
  ["ness", ""],
  ["ful", ""],
];
const removed = /(?:ement|ance|ence|able|ible|ment|ant|ent|ism|ate|iti|ous|ive|ize|al|er|ic|(?<=[st])ion)$/;

function shortEndings(word: string, r1: number, r2: number): string {
  let short = word;
  const found = shortenings.find(([ending]) => short.endsWith(ending));
  if (found && short.length - found[0].length >= r1) short = short.slice(0, -found[0].length) + found[1];
  if (short.endsWith("ative") && short.length - 5 >= r2) short = short.slice(0, -5);
  const ending = removed.exec(short);
  return ending && ending.index >= r2 ? short.slice(0, ending.index) : short;
}

function finalLetter(word: string, r1: number, r2: number): string {
  const at = word.length - 1;
  if (word.endsWith("e")) {
    const isLong = at >= r2 || (at >= r1 && !shortSyllable.test(word.slice(0, -1)));
    return isLong ? word.slice(0, -1) : word;
  }
  return word.endsWith("ll") && at >= r2 ? word.slice(0, -1) : word;
}
