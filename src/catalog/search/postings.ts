import type { Document } from "./document.ts";

/** One posting is one number: the slot of a document, whether the term is in its name, and how much it counts there. */
const countBits = 10;
const countMask = (1 << countBits) - 1;
const nameBit = 1 << countBits;
const slotShift = countBits + 1;
const countScale = 16;
export const mostSlots = 1 << (31 - slotShift);

export const slotOf = (posting: number): number => posting >>> slotShift;
export const countOf = (posting: number): number => (posting & countMask) / countScale;
export const isInName = (posting: number): boolean => (posting & nameBit) !== 0;

/** Which documents have a term. Documents come and go one by one; a slot that is free is used again. */
export class Postings {
  readonly #byTerm = new Map<string, number[]>();
  readonly #free: number[] = [];
  readonly documents: (Document | undefined)[] = [];

  get(term: string): readonly number[] | undefined {
    return this.#byTerm.get(term);
  }

  get size(): number {
    return this.documents.length - this.#free.length;
  }

  add(document: Document): number {
    const slot = this.#free.pop() ?? this.documents.length;
    this.documents[slot] = document;
    for (const [at, term] of document.terms.entries()) {
      const count = Math.max(1, Math.min(countMask, Math.round((document.counts[at] ?? 0) * countScale)));
      const posting = (slot << slotShift) | (at < document.named ? nameBit : 0) | count;
      const list = this.#byTerm.get(term);
      if (list) list.push(posting);
      else this.#byTerm.set(term, [posting]);
    }
    return slot;
  }

  /** Removes documents in one pass over the lists that they are in. */
  remove(slots: Iterable<number>): void {
    const gone = new Set(slots);
    const terms = new Set<string>();
    for (const slot of gone) {
      for (const term of this.documents[slot]?.terms ?? []) terms.add(term);
      this.documents[slot] = undefined;
      this.#free.push(slot);
    }
    for (const term of terms) {
      const left = (this.#byTerm.get(term) ?? []).filter((posting) => !gone.has(slotOf(posting)));
      if (left.length > 0) this.#byTerm.set(term, left);
      else this.#byTerm.delete(term);
    }
  }
}
