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

/** The same with keys, in the order in which they came. Only the keys are in a map. */
export class TransientMap<K extends string | number, V extends object> {
  readonly #places = new Map<K, number>();
  readonly #slots = new Slots<V>();

  get size(): number {
    return this.#places.size;
  }

  has(key: K): boolean {
    return this.#places.has(key);
  }

  get(key: K): V | undefined {
    const place = this.#places.get(key);
    return place === undefined ? undefined : this.#slots.at(place);
  }

  /** False if there is one with this key, which stays. */
  add(key: K, value: V): boolean {
    if (this.#places.has(key)) return false;
    this.#places.set(key, this.#slots.add(value));
    return true;
  }

  /** Removes and returns it. */
  take(key: K): V | undefined {
    const place = this.#places.get(key);
    if (place === undefined) return undefined;
    const value = this.#slots.at(place);
    this.#slots.remove(place);
    this.#places.delete(key);
    return value;
  }

  /** True if it was there. */
  delete(key: K): boolean {
    return this.take(key) !== undefined;
  }

  keys(): MapIterator<K> {
    return this.#places.keys();
  }

  *values(): Generator<V> {
    for (const place of this.#places.values()) {
      const value = this.#slots.at(place);
      if (value) yield value;
    }
  }
}
