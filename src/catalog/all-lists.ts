import { describeKey } from "../servers/connection-key.ts";
import type { ConnectionKey, Use } from "../servers/connection-key.ts";
import type { CatalogSettings } from "./settings.ts";
import { KeepFresh } from "./keep-fresh.ts";
import { listKinds } from "./known-list.ts";
import type { ListKind } from "./known-list.ts";
import { listSource } from "./list-source.ts";
import type { Rules } from "./tool-index.ts";
import type { ServerList } from "./server-list.ts";
import { ServerLists } from "./server-lists.ts";

const mostKept = 1_000;

/** The lists of every connection, and what happens to them: news, connects, and their end. */
export class AllLists {
  readonly #settings: CatalogSettings;
  readonly #rules: (server: string) => Rules;
  readonly #keepFresh: KeepFresh | undefined;
  /** By the text of their key. */
  readonly #byKey = new Map<string, { key: ConnectionKey; lists: ServerLists }>();

  constructor(settings: CatalogSettings, rules: (server: string) => Rules) {
    this.#settings = settings;
    this.#rules = rules;
    const { now, keepFresh } = settings;
    if (keepFresh) this.#keepFresh = new KeepFresh({ now, lists: () => this.#every() });
  }

  of(server: string, use: Use): ServerLists {
    return this.for(this.#settings.servers.key(server, use), use);
  }

  /** `use` is whoever the connection is made for, if it must be made. */
  for(key: ConnectionKey, use?: Use): ServerLists {
    const known = this.peek(key);
    if (known) return known;
    const lists = new ServerLists({
      ...listSource(key, use, this.#settings),
      rules: () => this.#rules(key.server),
      onRead: (list, differs) => {
        if (differs) this.#tell(key, list.kind);
        this.#keepFresh?.look(list);
      },
      onUnread: (list) => this.#keepFresh?.look(list),
    });
    this.#byKey.set(key.text, { key, lists });
    if (this.#byKey.size > mostKept) this.#dropOldest();
    return lists;
  }

  /** Lists of callers who only looked have no connection whose end would take them along. */
  #dropOldest(): void {
    const { connections } = this.#settings.servers;
    for (const [text, { key, lists }] of this.#byKey) {
      if (key.caller === undefined || connections.peek(key)) continue;
      this.#byKey.delete(text);
      void lists.close();
      return;
    }
  }

  /** What is there already; looking creates nothing. */
  peek(key: ConnectionKey): ServerLists | undefined {
    return this.#byKey.get(key.text)?.lists;
  }

  invalidate(key: ConnectionKey, kind: "tools" | "resources" | "prompts"): void {
    const lists = this.peek(key);
    if (!lists) return;
    const kinds: ListKind[] = kind === "resources" ? ["resources", "resourceTemplates"] : [kind];
    for (const one of kinds) {
      lists.list(one).invalidate();
      this.#keepFresh?.look(lists.list(one));
    }
  }

  onConnected(key: ConnectionKey): void {
    if (!this.#keepFresh) return;
    const lists = this.for(key);
    for (const kind of listKinds) this.#keepFresh.look(lists.list(kind));
  }

  forget(isMeant: (key: ConnectionKey) => boolean): void {
    for (const [text, { key, lists }] of this.#byKey) {
      if (!isMeant(key)) continue;
      this.#byKey.delete(text);
      void lists.close();
    }
  }

  /** Resolves when everything that was read is kept. */
  async close(): Promise<void> {
    this.#keepFresh?.close();
    await Promise.all([...this.#byKey.values()].map(({ lists }) => lists.close()));
  }

  #tell(key: ConnectionKey, listed: ListKind): void {
    const { emit, now } = this.#settings;
    const kind = listed === "resourceTemplates" ? "resources" : listed;
    emit({ type: "catalog-changed", server: key.server, ...describeKey(key), kind, at: now() });
  }

  *#every(): Iterable<ServerList> {
    for (const { lists } of this.#byKey.values()) for (const kind of listKinds) yield lists.list(kind);
  }
}
