/**
 * Things that come and go, such as requests under way. Unlike a `Set`, it does not keep things alive that were removed:
 * when V8 makes a new table for a map or set, the old one refers to it. Once an old table has got into the old
 * generation, everything that any later table ever held survives there until the next full collection.
 */
export class Slots<T extends object> {
  readonly #items: (T | undefined)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#items.length - this.#free.length;
  }

  /** Returns the place by which it can be removed. */
  add(item: T): number {
    const place = this.#free.pop() ?? this.#items.length;
    this.#items[place] = item;
    return place;
  }

  at(place: number): T | undefined {
    return this.#items[place];
  }

  /** Call it once for each `add`. */
  remove(place: number): void {
    this.#items[place] = undefined;
    this.#free.push(place);
  }

  /** In no particular order. What is added meanwhile may be among them. */
  *[Symbol.iterator](): Generator<T> {
    for (const item of this.#items) if (item !== undefined) yield item;
  }
}

interface Entry<V> {
  key: string;
  hash: number;
  value: V;
  /** Which one it was, counted from the first. */
  number: number;
}

/**
 * The same with keys. A table that stays: a `Map` would make a new one after every few dozen entries, and each of them
 * would live on until the next full collection.
 */
export class TransientMap<V extends object> {
  readonly #hashed: number;
  /** Each entry is at the place of its hash, or after it with nothing free in between. At most half of it is in use. */
  #table: (Entry<V> | undefined)[] = emptyTable(64);
  #size = 0;
  #added = 0;

  /** By how many of their last characters keys are told apart: few are enough where nobody else chooses them. */
  constructor(hashed = Infinity) {
    this.#hashed = hashed;
  }

  get size(): number {
    return this.#size;
  }

  has(key: string): boolean {
    return this.#table[this.#find(key, this.#hash(key))] !== undefined;
  }

  get(key: string): V | undefined {
    return this.#table[this.#find(key, this.#hash(key))]?.value;
  }

  /** False if there is one with this key, which stays. */
  add(key: string, value: V): boolean {
    const hash = this.#hash(key);
    if (this.#table[this.#find(key, hash)] !== undefined) return false;
    if (++this.#size * 2 > this.#table.length) this.#grow();
    this.#table[this.#find(key, hash)] = { key, hash, value, number: ++this.#added };
    return true;
  }

  /** Removes and returns it. */
  take(key: string): V | undefined {
    const place = this.#find(key, this.#hash(key));
    const entry = this.#table[place];
    if (entry === undefined) return undefined;
    this.#size--;
    this.#close(place);
    return entry.value;
  }

  /** True if it was there. */
  delete(key: string): boolean {
    return this.take(key) !== undefined;
  }

  /** In the order in which they came. What is removed meanwhile is left out, and so is what is added. */
  *values(): Generator<V> {
    const all = this.#table.filter((entry) => entry !== undefined);
    for (const { key, value } of all.toSorted((one, other) => one.number - other.number))
      if (this.get(key) === value) yield value;
  }

  #hash(key: string): number {
    let hash = seed;
    for (let at = Math.max(0, key.length - this.#hashed); at < key.length; at++) {
      hash = Math.imul(hash ^ key.charCodeAt(at), factor);
      hash ^= hash >>> 15;
    }
    return hash;
  }

  /** The place of a key, or the free one where it belongs. */
  #find(key: string, hash: number): number {
    const table = this.#table;
    const mask = table.length - 1;
    let at = hash & mask;
    for (let entry = table[at]; entry !== undefined; entry = table[at]) {
      if (entry.hash === hash && entry.key === key) return at;
      at = (at + 1) & mask;
    }
    return at;
  }

  /** Frees a place, and moves those after it that belong there. */
  #close(place: number): void {
    const table = this.#table;
    const mask = table.length - 1;
    let free = place;
    let at = (place + 1) & mask;
    for (let entry = table[at]; entry !== undefined; entry = table[at]) {
      if (((at - entry.hash) & mask) >= ((at - free) & mask)) {
        table[free] = entry;
        free = at;
      }
      at = (at + 1) & mask;
    }
    table[free] = undefined;
  }

  #grow(): void {
    const before = this.#table;
    this.#table = emptyTable(before.length * 2);
    for (const entry of before) if (entry) this.#table[this.#find(entry.key, entry.hash)] = entry;
  }
}

function emptyTable<V>(length: number): (Entry<V> | undefined)[] {
  return Array.from({ length }, () => undefined);
}

/** Others choose keys, too, and must not know which ones meet. */
const seed = randomNumber();
const factor = randomNumber() | 1;

function randomNumber(): number {
  return Math.floor(Math.random() * 2 ** 32) | 0;
}
