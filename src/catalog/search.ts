import { PlugboardError } from "../errors.ts";
import type { ConnectionKey } from "../servers/connection-key.ts";
import type { ScopeView } from "./scope-view.ts";
import type { ListOptions } from "./settings.ts";
import { parseQuery } from "./search/query.ts";
import type { Query } from "./search/query.ts";
import { rank } from "./search/rank.ts";
import type { Population } from "./search/rank.ts";
import { SearchIndex } from "./search/search-index.ts";
import type { SearchedList } from "./search/search-index.ts";
import { tuning } from "./search/tuning.ts";
import type { ToolEntry } from "./tool-entry.ts";

export interface SearchOptions extends ListOptions {
  /** How many tools are returned at most. Default: 10. */
  limit?: number | undefined;
  /** Search only the tools of this server. */
  server?: string | undefined;
}

export interface FoundTool {
  tool: ToolEntry;
  /** Higher is better. Scores of different searches cannot be compared. */
  score: number;
}

/** What a search asks for, checked before any server is asked. */
export interface SearchWanted {
  query: Query;
  limit: number;
}

export function searchWanted(text: string, { limit = 10 }: SearchOptions = {}): SearchWanted {
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new PlugboardError("usage-invalid", "`limit` must be a whole number from 1 upwards.");
  const query = typeof text === "string" ? parseQuery(text) : undefined;
  if (!query)
    throw new PlugboardError("usage-invalid", "The search has no words.", {
      hint: 'Say in a few words what the tool should do, and name the service if you know it: "create an issue in github".',
    });
  return { query, limit };
}

/** The population of a view while its lists stay the same. */
interface Known {
  readonly version: number;
  readonly lists: readonly SearchedList[];
  readonly population: Population;
  readonly tools: readonly (ToolEntry | undefined)[];
}

/** Finds tools by what they do. Sees the lists it is given, as the view shows them; it keeps no list of its own. */
export class ToolSearch {
  readonly #index = new SearchIndex();
  readonly #known = new WeakMap<ScopeView, Known>();
  #updating: Promise<unknown> = Promise.resolve();

  async search(
    { query, limit }: SearchWanted,
    lists: readonly SearchedList[],
    view: ScopeView,
  ): Promise<FoundTool[]> {
    const find = () => this.#find(query, limit, this.#populationOf(lists, view));
    if (this.#index.has(lists)) return find();
    // In turn, because another search may come with another list of the same server.
    const update = this.#updating.then(() => this.#index.update(lists)).then(find);
    this.#updating = update.catch(() => undefined);
    return update;
  }

  /** Forgets the lists of connections that are gone. */
  forget(isMeant: (key: ConnectionKey) => boolean): void {
    this.#updating = this.#updating.then(() => this.#index.forget(isMeant));
  }

  #find(query: Query, limit: number, { population, tools }: Known): FoundTool[] {
    return rank(query, this.#index.postings, population, limit).flatMap(({ slot, score }) => {
      const tool = tools[slot];
      return tool ? [{ tool, score }] : [];
    });
  }

  #populationOf(lists: readonly SearchedList[], view: ScopeView): Known {
    const known = this.#known.get(view);
    if (known?.version === this.#index.version && isSame(known.lists, lists)) return known;
    const { documents } = this.#index.postings;
    const tools: (ToolEntry | undefined)[] = Array.from({ length: documents.length });
    const isShown = new Uint8Array(documents.length);
    let count = 0;
    let length = 0;
    for (const { key } of lists)
      for (const [entry, slot] of this.#index.slotsOf(key)) {
        const tool = view.shown(entry);
        if (tool?.status !== "available") continue;
        tools[slot] = tool;
        isShown[slot] = 1;
        count++;
        length += documents[slot]?.length ?? 0;
      }
    const average = length / Math.max(1, count) || 1;
    const { saturation, lengthPenalty } = tuning;
    const norms = Float32Array.from(
      documents,
      (one) => saturation * (1 - lengthPenalty + (lengthPenalty * (one?.length ?? 0)) / average),
    );
    const made = { version: this.#index.version, lists, population: { isShown, norms, count }, tools };
    this.#known.set(view, made);
    return made;
  }
}

function isSame(lists: readonly SearchedList[], others: readonly SearchedList[]): boolean {
  return lists.length === others.length && lists.every(({ index }, at) => index === others[at]?.index);
}
