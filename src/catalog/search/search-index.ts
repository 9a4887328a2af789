import type { ConnectionKey } from "../../servers/connection-key.ts";
import { Slices } from "../slices.ts";
import type { ToolEntry } from "../tool-entry.ts";
import type { ToolIndex } from "../tool-index.ts";
import { documentOf, nameTerms } from "./document.ts";
import { mostSlots, Postings } from "./postings.ts";
import { Words } from "./words.ts";

/** The documents of one list. */
interface Segment {
  readonly key: ConnectionKey;
  readonly index: ToolIndex;
  readonly slots: ReadonlyMap<ToolEntry, number>;
}

/** One server's tools over one connection. */
export interface SearchedList {
  readonly key: ConnectionKey;
  readonly index: ToolIndex;
}

/** Beyond it, the lists that were read first go first; they are read again when somebody searches them. */
const mostDocuments = 100_000;

/**
 * The documents of the lists that were searched. A list is recognised by its index, which is never modified, so
 * nothing here can be older than the catalog; of a list that changed, only the changed tools are read again.
 */
export class SearchIndex {
  readonly words = new Words();
  readonly postings = new Postings();
  /** Changes whenever a slot gets another meaning. */
  version = 0;
  /** By the text of their key; the one that was read last is the last. */
  readonly #segments = new Map<string, Segment>();

  /** True if the lists are searchable as they are. */
  has(lists: readonly SearchedList[]): boolean {
    return lists.every(({ key, index }) => this.#segments.get(key.text)?.index === index);
  }

  /** Makes the lists searchable, in time slices. One update at a time: the caller waits for the one before. */
  async update(lists: readonly SearchedList[]): Promise<void> {
    const slices = new Slices();
    for (const { key, index } of lists)
      if (this.#segments.get(key.text)?.index !== index) await this.#replace(key, index, slices);
    if (this.postings.size > mostDocuments) this.#dropOldest(new Set(lists.map(({ key }) => key.text)));
  }

  slotsOf(key: ConnectionKey): ReadonlyMap<ToolEntry, number> {
    return this.#segments.get(key.text)?.slots ?? new Map();
  }

  /** Forgets lists that are gone. */
  forget(isMeant: (key: ConnectionKey) => boolean): void {
    for (const segment of this.#segments.values()) if (isMeant(segment.key)) this.#drop(segment);
  }

  /** Others may search meanwhile: they see the old list until the new one is complete. */
  async #replace(key: ConnectionKey, index: ToolIndex, slices: Slices): Promise<void> {
    const before = this.#segments.get(key.text)?.slots;
    const slots = new Map<ToolEntry, number>();
    const server = nameTerms(key.server, this.words);
    for (const entry of index.entries) {
      if (entry.status === "set-aside" || this.postings.size >= mostSlots) continue;
      if (slices.isOver()) await slices.next();
      slots.set(entry, before?.get(entry) ?? this.postings.add(documentOf(entry, server, this.words)));
    }
    this.postings.remove([...(before ?? [])].filter(([entry]) => !slots.has(entry)).map(([, slot]) => slot));
    this.#segments.delete(key.text);
    this.#segments.set(key.text, { key, index, slots });
    this.version++;
  }

  #dropOldest(needed: ReadonlySet<string>): void {
    for (const [text, segment] of this.#segments) {
      if (this.postings.size <= mostDocuments) return;
      if (!needed.has(text)) this.#drop(segment);
    }
  }

  #drop({ key, slots }: Segment): void {
    this.#segments.delete(key.text);
    this.postings.remove(slots.values());
    this.version++;
  }
}
