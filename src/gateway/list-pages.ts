import type { Seal } from "./seal.ts";
import { invalidParams } from "./failure.ts";
import { stringifyExact } from "../lib/exact-json.ts";

export type ListName = "tools" | "resources" | "resourceTemplates" | "prompts";

/** How many entries a page has. */
const pageSize = 500;

/** One list as clients get it, serialised once. */
export class ListPages {
  /** Tells this list from an earlier or later one. */
  readonly version: string;
  readonly #name: ListName;
  /** The entries of each page, as JSON without the brackets. */
  readonly #pages: string[];
  readonly #ready = new Map<string, Buffer>();

  constructor(name: ListName, version: string, entries: readonly Record<string, unknown>[]) {
    this.#name = name;
    this.version = version;
    this.#pages = [];
    for (let at = 0; at === 0 || at < entries.length; at += pageSize)
      this.#pages.push(
        entries
          .slice(at, at + pageSize)
          .map((entry) => stringifyExact(entry))
          .join(","),
      );
  }

  /** About how much memory it takes, with its last page. */
  get bytes(): number {
    return this.#pages.reduce((sum, { length }) => sum + length, 0) + (this.#pages.at(-1)?.length ?? 0);
  }

  /** The result with one page, as JSON text. `extra` are the members that follow the list. */
  page(index: number, caller: string, seal: Seal, extra: string): Buffer {
    const entries = this.#pages[index];
    if (entries === undefined) throw invalidParams("The cursor is not valid.");
    const isLast = index === this.#pages.length - 1;
    const key = `${index}\0${extra}`;
    const known = isLast ? this.#ready.get(key) : undefined;
    if (known) return known;
    // A cursor belongs to its caller, so only pages without one are the same for everybody.
    const next = isLast
      ? ""
      : `,"nextCursor":"${seal.close("cursor", caller, [this.#name, this.version, index + 1])}"`;
    const page = Buffer.from(`{"${this.#name}":[${entries}]${next}${extra}}`);
    if (isLast) this.#ready.set(key, page);
    return page;
  }
}

/** Reads a cursor that we gave to this caller for this list. */
export function readCursor(
  seal: Seal,
  caller: string,
  name: ListName,
  cursor: unknown,
): { version: string; index: number } | undefined {
  if (cursor === undefined) return undefined;
  const opened = seal.open("cursor", caller, cursor);
  if (!Array.isArray(opened) || opened[0] !== name) throw invalidParams("The cursor is not valid.");
  return { version: String(opened[1]), index: Number(opened[2]) };
}
