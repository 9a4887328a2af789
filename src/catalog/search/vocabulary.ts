/** How many words are compared with one that nobody uses. */
const mostCompared = 2_000;
/** Shorter words have too many that are nearly alike. */
const shortest = 5;

/**
 * A number for each term in use, and the terms that are written nearly like another one. The numbers of terms that are
 * no longer in use are given again.
 */
export class Vocabulary {
  readonly #ids = new Map<string, number>();
  readonly #terms: string[] = [];
  readonly #free: number[] = [];
  /** Terms by their first letter and their length. */
  readonly #byShape = new Map<string, Set<string>>();

  get(term: string): number | undefined {
    return this.#ids.get(term);
  }

  add(text: string): number {
    const known = this.#ids.get(text);
    if (known !== undefined) return known;
    // A longer piece of a text would keep the whole text in memory, so it is copied.
    const term = text.length > 12 ? text.split("").join("") : text;
    const id = this.#free.pop() ?? this.#terms.length;
    this.#ids.set(term, id);
    this.#terms[id] = term;
    const shape = shapeOf(term);
    const alike = this.#byShape.get(shape);
    if (alike) alike.add(term);
    else this.#byShape.set(shape, new Set([term]));
    return id;
  }

  remove(id: number): void {
    const term = this.#terms[id] ?? "";
    this.#ids.delete(term);
    this.#terms[id] = "";
    this.#free.push(id);
    const shape = shapeOf(term);
    const alike = this.#byShape.get(shape);
    alike?.delete(term);
    if (alike?.size === 0) this.#byShape.delete(shape);
  }

  /** Terms that one begins with, or that differ from it by a slip of the finger. */
  near(term: string): string[] {
    const found: string[] = [];
    let compared = 0;
    const least = Math.max(shortest, Math.ceil(term.length / 2));
    for (let length = least; length <= 2 * term.length && term.length >= shortest; length++)
      for (const other of this.#byShape.get(shapeOf(term, length)) ?? []) {
        if (++compared > mostCompared) return found;
        if (isNear(term, other)) found.push(other);
      }
    return found;
  }
}

function shapeOf(term: string, length = term.length): string {
  return `${term.charAt(0)}${length}`;
}

function isNear(one: string, other: string): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  return long.startsWith(short) || isOneSlipApart(short, long);
}

/** True if one letter is missing, is another one, or changed places with the next. */
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
