import { PlugboardError } from "../errors.ts";
import type { ConnectionKey } from "../servers/connection-key.ts";
import type { ScopeView } from "./scope-view.ts";
import type { ListOptions } from "./settings.ts";
import { parseQuery } from "./search/query.ts";
import type { Query } from "./search/query.ts";
import { Boards } from "./search/board.ts";
import { Population } from "./search/population.ts";
import { rank } from "./search/rank.ts";
import type { Ranked } from "./search/rank.ts";
import { RelatedWords } from "./search/related-words.ts";
import { SearchIndex } from "./search/search-index.ts";
import type { SearchedList } from "./search/search-index.ts";
import type { ToolEntry } from "./tool-entry.ts";

/** What a search returns. */
export interface SearchOptions extends ListOptions {
  /** How many tools are returned at most. Default: 10. */
  limit?: number | undefined;
  /** Search only the tools of this server. */
  server?: string | undefined;
}

/** A tool that was found. Scores of different searches cannot be compared. */
export type FoundTool = Ranked;

/** What a search asks for. */
interface SearchWanted {
  query: Query;
  limit: number;
}

/** What a view may find, as long as its lists stay the same. */
interface Known {
  readonly version: number;
  readonly lists: readonly SearchedList[];
  readonly population: Population;
}

/** Finds tools by what they do. Sees the lists it is given, as the view shows them; it has no lists of its own. */
export class ToolSearch {
  readonly #index = new SearchIndex();
  readonly #known = new WeakMap<ScopeView, Known>();
  readonly #boards = new Boards();
  #related: RelatedWords | undefined;
  #updating: Promise<unknown> = Promise.resolve();

  /** Throws if there is nothing to search for, before any server is asked. */
  wanted(text: string, { limit = 10 }: SearchOptions): SearchWanted {
    if (!Number.isSafeInteger(limit) || limit < 1)
      throw new PlugboardError("usage-invalid", "The limit of a search must be a whole number above 0.", {
        advice: "Leave it out for 10 results.",
      });
    const query = parseQuery(text, this.#index.words, (this.#related ??= new RelatedWords()));
    if (query.length === 0)
      throw new PlugboardError("usage-invalid", "The search has no words.", {
        advice:
          'Say what the tool should do, and name the service if you know it, for example "create an issue in github".',
      });
    return { query, limit };
  }

  async search(
    { query, limit }: SearchWanted,
    lists: readonly SearchedList[],
    view: ScopeView,
  ): Promise<FoundTool[]> {
    const find = () => rank(query, this.#populationOf(lists, view), this.#boards, limit);
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

  #populationOf(lists: readonly SearchedList[], view: ScopeView): Population {
    const known = this.#known.get(view);
    const { version, postings } = this.#index;
    if (known?.version === version && isSame(known.lists, lists)) return known.population;
    const shown: [ToolEntry, number][] = [];
    for (const { key } of lists)
      for (const [entry, slot] of this.#index.slotsOf(key)) {
        const tool = view.shown(entry);
        if (tool?.status === "available") shown.push([tool, slot]);
      }
    const population = new Population(postings, shown);
    this.#known.set(view, { version, lists, population });
    return population;
  }
}

function isSame(lists: readonly SearchedList[], others: readonly SearchedList[]): boolean {
  return lists.length === others.length && lists.every(({ index }, at) => index === others[at]?.index);
}
