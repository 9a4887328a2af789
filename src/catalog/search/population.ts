import type { ToolEntry } from "../tool-entry.ts";
import { slotOf } from "./postings.ts";
import type { Kept, Postings } from "./postings.ts";
import { tuning } from "./tuning.ts";

/**
 * The tools that a search may find. How rare a term is, and how long a text, is measured among these alone, so a view's
 * ranking says nothing about tools outside it.
 */
export class Population {
  /** By slot; undefined for tools that may not be found. */
  readonly tools: (ToolEntry | undefined)[];
  /** By slot: how much the length of a text holds its terms back. */
  readonly norms: Float32Array;
  readonly count: number;
  readonly #postings: Postings;
  /** 1 for each slot of a tool that may be found. */
  readonly #isShown: Uint8Array;
  /** By term. */
  readonly #rarities: number[] = [];

  constructor(postings: Postings, shown: Iterable<readonly [tool: ToolEntry, slot: number]>) {
    const { documents } = postings;
    this.#postings = postings;
    this.tools = Array.from({ length: documents.length });
    this.#isShown = new Uint8Array(documents.length);
    let count = 0;
    let length = 0;
    for (const [tool, slot] of shown) {
      this.tools[slot] = tool;
      this.#isShown[slot] = 1;
      count++;
      length += documents[slot]?.length ?? 0;
    }
    this.count = count;
    const { saturation, lengthPenalty } = tuning;
    const perLength = (saturation * lengthPenalty * count) / (length || 1);
    const least = saturation * (1 - lengthPenalty);
    this.norms = Float32Array.from(documents, (one) => least + perLength * (one?.length ?? 0));
  }

  document(slot: number): Kept | undefined {
    return this.#postings.documents[slot];
  }

  /** The number of a term; undefined if no tool of anybody has it. */
  idOf(term: string): number | undefined {
    return this.#postings.vocabulary.get(term);
  }

  /** Terms that are written nearly alike. */
  near(term: string): string[] {
    return this.#postings.vocabulary.near(term);
  }

  /** Where a term is, among what may be found. */
  postings(term: number): readonly number[] {
    const all = this.#postings.of(term);
    return this.count === this.#postings.size ? all : all.filter((one) => this.#isShown[slotOf(one)] === 1);
  }

  /** How rare something is that `count` tools have; above zero, also if terms that stand for each other are counted twice. */
  rarity(count: number): number {
    const all = Math.min(count, this.count);
    return Math.log(1 + (this.count - all + 0.5) / (all + 0.5));
  }

  /** How rare a term is. Remembered, because the same few words are in most names. */
  rarityOf(term: number): number {
    const known = this.#rarities[term];
    if (known !== undefined) return known;
    const all = this.#postings.of(term);
    const count = all.reduce((sum, one) => sum + (this.#isShown[slotOf(one)] ?? 0), 0);
    const rarity = this.rarity(count);
    this.#rarities[term] = rarity;
    return rarity;
  }
}
