/** Keeps the numbers with the highest scores: a heap whose root is the worst of them. */
export class Best {
  readonly #most: number;
  readonly #items: number[] = [];
  readonly #scores: number[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  get items(): readonly number[] {
    return this.#items;
  }

  /** Of the items, in the same order. */
  get scores(): readonly number[] {
    return this.#scores;
  }

  add(item: number, score: number): void {
    if (this.#items.length < this.#most) return this.#rise(item, score);
    if (score > (this.#scores[0] ?? -Infinity)) this.#sink(item, score);
  }

  #rise(item: number, score: number): void {
    let at = this.#items.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if ((this.#scores[parent] ?? 0) <= score) break;
      this.#put(at, this.#items[parent] ?? 0, this.#scores[parent] ?? 0);
      at = parent;
    }
    this.#put(at, item, score);
  }

  #sink(item: number, score: number): void {
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if ((this.#scores[child + 1] ?? Infinity) < (this.#scores[child] ?? Infinity)) child++;
      if ((this.#scores[child] ?? Infinity) >= score) break;
      this.#put(at, this.#items[child] ?? 0, this.#scores[child] ?? 0);
      at = child;
    }
    this.#put(at, item, score);
  }

  #put(at: number, item: number, score: number): void {
    this.#items[at] = item;
    this.#scores[at] = score;
  }
}
