/** Names with more typing mistakes than this are not suggested. */
const mistakes = 3;

/**
 * Finds entries whose names are similar to a misspelt word. Stores the letters of each name as a bit set: a typing
 * mistake changes at most two bits, so nearly all names are ruled out without being compared.
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

  /** Returns at most `most` entries, those with the fewest different letters first. */
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

/** The letters of a name as bits, ignoring case: 26 for letters, five for digits, one for the rest. */
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
