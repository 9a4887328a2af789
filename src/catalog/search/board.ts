/** A score for each slot, mostly none. Emptied by reading it, so that it can be used again without being made anew. */
export class Board {
  readonly #scores: Float32Array;
  readonly #slots: Uint32Array;
  #count = 0;

  constructor(size: number) {
    this.#scores = new Float32Array(size);
    this.#slots = new Uint32Array(size);
  }

  get size(): number {
    return this.#scores.length;
  }

  /** Adds to the score of a slot; `score` is above zero. */
  add(slot: number, score: number): void {
    const before = this.#scores[slot] ?? 0;
    if (before === 0) this.#slots[this.#count++] = slot;
    this.#scores[slot] = before + score;
  }

  /** Sets the score of a slot unless it has a better one. */
  raise(slot: number, score: number): void {
    const before = this.#scores[slot] ?? 0;
    if (before === 0) this.#slots[this.#count++] = slot;
    if (score > before) this.#scores[slot] = score;
  }

  drain(take: (slot: number, score: number) => void): void {
    for (let at = 0; at < this.#count; at++) {
      const slot = this.#slots[at] ?? 0;
      const score = this.#scores[slot] ?? 0;
      this.#scores[slot] = 0;
      take(slot, score);
    }
    this.#count = 0;
  }
}

/** The boards of one search after the other. */
export class Boards {
  #boards = boardsFor(0);

  of(size: number): ReturnType<typeof boardsFor> {
    if (this.#boards.all.size < size) this.#boards = boardsFor(size);
    return this.#boards;
  }
}

function boardsFor(size: number): { all: Board; clause: Board; concept: Board } {
  return { all: new Board(size), clause: new Board(size), concept: new Board(size) };
}
