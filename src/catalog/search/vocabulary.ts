/** How many words that begin alike are compared with a word that nobody uses. */
const mostCompared = 1_000;
const head = 3;
/** Shorter words have too many that are nearly alike. */
const shortest = 5;

/** A number for each term in use, and the terms that are written nearly like another. Numbers are used again. */
export class Vocabulary {
  readonly #ids = new Map<string, number>();
  readonly #terms: string[] = [];
  readonly #free: number[] = [];
  /** Terms by their first letters. */
  readonly #byHead = new Map<string, Set<string>>();

  get(term: string): number | undefined {
    return this.#ids.get(term);
  }

  add(text: string): number {
    const known = this.#ids.get(text);
    if (known !== undefined) return known;
    // A copy: a piece of a text would keep the whole text in memory.
    const term = text.split("").join("");
    const id = this.#free.pop() ?? this.#terms.length;
    this.#ids.set(term, id);
    this.#terms[id] = term;
    const alike = this.#byHead.get(term.slice(0, head));
    if (alike) alike.add(term);
    else this.#byHead.set(term.slice(0, head), new Set([term]));
    return id;
  }

  remove(id: number): void {
    const term = this.#terms[id] ?? "";
    this.#ids.delete(term);
    this.#free.push(id);
    const alike = this.#byHead.get(term.slice(0, head));
    alike?.delete(term);
    if (alike?.size === 0) this.#byHead.delete(term.slice(0, head));
  }

  /** Terms that begin like this one, or differ from it by a slip of the finger. */
  near(term: string): string[] {
    if (term.length < shortest) return [];
    const alike = this.#byHead.get(term.slice(0, head)) ?? [];
    return Iterator.from(alike)
      .take(mostCompared)
      .filter((other) => isNear(term, other))
      .toArray();
  }
}

function isNear(one: string, other: string): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  if (short.length < shortest) return false;
  if (long.startsWith(short)) return 2 * short.length >= long.length;
  return isOneSlipApart(short, long);
}

/** True if one letter is missing, another one, or changed places with the next. */
function isOneSlipApart(short: string, long: string): boolean {
  if (long.length - short.length > 1) return false;
  let at = 0;
  while (at < short.length && short[at] === long[at]) at++;
  if (short.length < long.length) return short.slice(at) === long.slice(at + 1);
  if (short.slice(at + 1) === long.slice(at + 1)) return true;
  return (
    short[at] === long[at + 1] && short[at + 1] === long[at] && short.slice(at + 2) === long.slice(at + 2)
  );
}
