import type { Document } from "./document.ts";
import { Vocabulary } from "./vocabulary.ts";

/** A posting is one number: the slot of a document, and how much the term counts there. */
const countBits = 11;
const countMask = (1 << countBits) - 1;
const countScale = 32;
export const mostSlots = 1 << (31 - countBits);

export const slotOf = (posting: number): number => posting >>> countBits;
export const countOf = (posting: number): number => (posting & countMask) / countScale;

/** What is kept of a document; terms are numbers of the vocabulary. */
export interface Kept {
  readonly terms: Uint32Array;
  readonly nameTerms: Uint32Array;
  readonly serverTerms: Uint32Array;
  /** The sum of all counts. */
  readonly length: number;
}

/** Which documents have a term. Documents come and go; a slot that is free is used again. */
export class Postings {
  readonly vocabulary = new Vocabulary();
  /** By term. */
  readonly #lists: number[][] = [];
  readonly #free: number[] = [];
  readonly documents: (Kept | undefined)[] = [];

  /** The number of documents. */
  get size(): number {
    return this.documents.length - this.#free.length;
  }

  of(term: number): readonly number[] {
    return this.#lists[term] ?? [];
  }

  add({ counts, nameTerms, serverTerms }: Document): number {
    const slot = this.#free.pop() ?? this.documents.length;
    const terms = new Uint32Array(counts.size);
    let at = 0;
    let length = 0;
    for (const [term, count] of counts) {
      const id = this.vocabulary.add(term);
      const rounded = Math.max(1, Math.min(countMask, Math.round(count * countScale)));
      (this.#lists[id] ??= []).push((slot << countBits) | rounded);
      terms[at++] = id;
      length += count;
    }
    // A document with very many terms lacks some.
    const ids = (some: readonly string[]) =>
      Uint32Array.from(some.map((term) => this.vocabulary.get(term)).filter((id) => id !== undefined));
    this.documents[slot] = { terms, nameTerms: ids(nameTerms), serverTerms: ids(serverTerms), length };
    return slot;
  }

  /** Removes documents in one pass over the lists that they are in. */
  remove(slots: Iterable<number>): void {
    const gone = new Set(slots);
    const terms = new Set<number>();
    for (const slot of gone) {
      for (const term of this.documents[slot]?.terms ?? []) terms.add(term);
      this.documents[slot] = undefined;
      this.#free.push(slot);
    }
    for (const term of terms) {
      const left = this.of(term).filter((posting) => !gone.has(slotOf(posting)));
      this.#lists[term] = left;
      if (left.length === 0) this.vocabulary.remove(term);
    }
  }
}
