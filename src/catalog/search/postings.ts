import type { Document } from "./document.ts";
import { Vocabulary } from "./vocabulary.ts";

/** A posting is one number: the slot of a document, and how much the term counts there. */
const countBits = 11;
const countMask = (1 << countBits) - 1;
const countScale = 32;
export const mostSlots = 1 << (31 - countBits);

export const slotOf = (posting: number): number => posting >>> countBits;
export const countOf = (posting: number): number => (posting & countMask) / countScale;

/** What is kept of a document. Terms are numbers of the vocabulary. */
export interface Kept {
  readonly terms: Uint32Array;
  /** How many of the terms, from the first, are in the tool's name. */
  readonly named: number;
  /** The terms of the server's name; the same array for all its tools. */
  readonly server: readonly string[];
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

  add({ counts, named, server }: Document): number {
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
    this.documents[slot] = { terms, named, server, length };
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
