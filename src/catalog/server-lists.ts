import { isPlugboardError } from "../errors.ts";
import type { PlugboardError } from "../errors.ts";
import { listKinds } from "./known-list.ts";
import type { KnownList, ListKind, RawEntry } from "./known-list.ts";
import type { ListSource } from "./list-request.ts";
import type { PageLimit } from "./pages.ts";
import { ServerList } from "./server-list.ts";
import type { SavedLists } from "./snapshot.ts";
import { indexTools } from "./tool-index.ts";
import type { Rules, ToolIndex } from "./tool-index.ts";

export interface ListsSettings extends ListSource {
  /** What tools are judged by now. */
  rules(): Rules;
  load(): Promise<SavedLists>;
  save(lists: SavedLists): Promise<void>;
  onRead(list: ServerList, differs: boolean): void;
  onUnread(list: ServerList): void;
  /** A list could not be read, or is good again. */
  onFailed(kind: ListKind, error: PlugboardError): void;
  onRecovered(kind: ListKind): void;
  /** A list is longer than what is read of it. */
  onCut(kind: ListKind, cutBy: PageLimit): void;
}

/** What one server offers over one connection: its four lists, and the index of its tools. */
export class ServerLists {
  readonly #settings: ListsSettings;
  readonly #lists: Record<ListKind, ServerList>;
  /** By the entries that they were made from. */
  readonly #indexes = new WeakMap<readonly RawEntry[], ToolIndex>();
  readonly #building = new WeakMap<readonly RawEntry[], Promise<ToolIndex>>();
  #recalled: Promise<void> | undefined;
  #saving: Promise<void> | undefined;
  readonly #savedAt = new Map<ListKind, number>();
  #isUnsaved = false;
  #isClosed = false;

  constructor(settings: ListsSettings) {
    this.#settings = settings;
    const list = (kind: ListKind) =>
      new ServerList(kind, settings, {
        prepare: async (read) => {
          if (kind === "tools") await this.index(read);
        },
        onRead: (differs) => this.#read(kind, differs),
        onFailed: (error) => this.#failed(kind, error),
      });
    this.#lists = {
      tools: list("tools"),
      resources: list("resources"),
      resourceTemplates: list("resourceTemplates"),
      prompts: list("prompts"),
    };
  }

  get tools(): ServerList {
    return this.#lists.tools;
  }

  list(kind: ListKind): ServerList {
    return this.#lists[kind];
  }

  /** What is known right now, from this run or an earlier one. Starts nothing. */
  async peek(kind: ListKind): Promise<KnownList | undefined> {
    await (this.#recalled ??= this.#recall());
    return this.#lists[kind].known;
  }

  async read(kind: ListKind, signal: AbortSignal | undefined): Promise<KnownList> {
    await (this.#recalled ??= this.#recall());
    return this.#lists[kind].read(signal);
  }

  /** The tools that calls may be checked against, if there is no need to wait for them. */
  get confirmed(): ToolIndex | undefined {
    const { tools } = this.#lists;
    return tools.isConfirmed ? this.current : undefined;
  }

  /** The tools that may be shown, if there is no need to wait for them. */
  get fresh(): ToolIndex | undefined {
    return this.#lists.tools.isFresh ? this.current : undefined;
  }

  /** The tools of the last list, however old it is, judged by the rules of now. */
  get current(): ToolIndex | undefined {
    const { known } = this.#lists.tools;
    const index = known && this.#indexes.get(known.entries);
    return index?.rules === this.#settings.rules() ? index : undefined;
  }

  /** The index of a list; made anew only when the list or the rules are new. */
  async index(list: KnownList): Promise<ToolIndex> {
    for (;;) {
      const known = this.#indexes.get(list.entries);
      if (known?.rules === this.#settings.rules()) return known;
      const building = this.#building.get(list.entries) ?? this.#build(list);
      this.#building.set(list.entries, building);
      await building;
    }
  }

  /** Nothing that is still under way changes anything outside. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#saving;
  }

  async #build(list: KnownList): Promise<ToolIndex> {
    const { known } = this.#lists.tools;
    const before = known && this.#indexes.get(known.entries);
    try {
      const index = await indexTools(this.#settings.server, list, this.#settings.rules(), before);
      this.#indexes.set(list.entries, index);
      return index;
    } finally {
      this.#building.delete(list.entries);
    }
  }

  #read(kind: ListKind, differs: boolean): void {
    if (this.#isClosed) return;
    this.#settings.onRecovered(kind);
    const { at, ttlMs, cutBy } = this.#lists[kind].known ?? { at: 0, ttlMs: 0 };
    if (cutBy && differs) this.#settings.onCut(kind, cutBy);
    // What did not change is written again only so often that it does not look expired to the next run.
    if (differs || at - (this.#savedAt.get(kind) ?? -Infinity) > ttlMs / 2) this.#save(kind, at);
    this.#settings.onRead(this.#lists[kind], differs);
  }

  #failed(kind: ListKind, error: PlugboardError): void {
    if (this.#isClosed) return;
    if (!isPlugboardError(error, "call-cancelled")) this.#settings.onFailed(kind, error);
    this.#settings.onUnread(this.#lists[kind]);
  }

  async #recall(): Promise<void> {
    const lists = await this.#settings.load();
    for (const kind of listKinds) {
      const list = lists[kind];
      if (list) this.#lists[kind].remember(list);
    }
  }

  #save(kind: ListKind, at: number): void {
    this.#savedAt.set(kind, at);
    this.#isUnsaved = true;
    this.#saving ??= this.#write().finally(() => (this.#saving = undefined));
  }

  /** Several lists that come at once are written once. */
  async #write(): Promise<void> {
    while (this.#isUnsaved) {
      await new Promise((resolve) => setImmediate(resolve));
      this.#isUnsaved = false;
      const known = listKinds.flatMap((kind) => {
        const list = this.#lists[kind].known;
        return list ? [[kind, list] as const] : [];
      });
      await this.#settings.save(Object.fromEntries(known));
    }
  }
}
