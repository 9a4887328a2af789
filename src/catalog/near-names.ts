/** More than these nobody takes for a slip. */
const mistakes = 3;

/**
 * Finds the few things whose names may be a word with typing mistakes. Every name is kept as the set of its letters in
 * one number: a mistake changes at most two of them, so nearly all names drop out without being compared.
 */
export class NearNames<T> {
  readonly #items: T[] = [];
  readonly #lengths: number[] = [];
  readonly #letters: number[] = [];

  add(name: string, item: T): void {
    this.#items.push(item);
    this.#lengths.push(name.length);
    this.#letters.push(lettersOf(name));
  }

  /** Those with the fewest different letters first, and no more than `most`. */
  like(word: string, most: number): T[] {
    const letters = lettersOf(word);
    const found: T[][] = Array.from({ length: 2 * mistakes + 1 }, () => []);
    for (let at = 0; at < this.#items.length; at++) {
      if (Math.abs((this.#lengths[at] as number) - word.length) > mistakes) continue;
      found[countBits((this.#letters[at] as number) ^ letters)]?.push(this.#items[at] as T);
    }
    const chosen: T[] = [];
    for (const items of found) {
      chosen.push(...items.slice(0, most - chosen.length));
      if (chosen.length >= most) break;
    }
    return chosen;
  }
}

/** The letters of a name, whatever their case, as bits: 26 for letters, five for digits, one for the rest. */
function lettersOf(name: string): number {
  let letters = 0;
  for (let at = 0; at < name.length; at++) {
    const code = name.charCodeAt(at) | 32;
    if (code >= 97 && code <= 122) letters |= 1 << (code - 97);
    else if (code >= 48 && code <= 57) letters |= 1 << (26 + (code % 5));
    else letters |= 1 << 31;
  }
  return letters;
}

function countBits(value: number): number {
  let bits = value - ((value >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return (((bits + (bits >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}
