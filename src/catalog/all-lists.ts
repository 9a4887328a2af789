import { describeKey } from "../servers/connection-key.ts";
import type { ConnectionKey, Use } from "../servers/connection-key.ts";
import type { CatalogSettings } from "./settings.ts";
import { asideReason } from "./deep-entry.ts";
import { KeepFresh } from "./keep-fresh.ts";
import { listKinds } from "./known-list.ts";
import type { ListKind } from "./known-list.ts";
import type { PinVerdicts } from "./pin-problem.ts";
import { listSource } from "./list-source.ts";
import type { Rules } from "./tool-index.ts";
import type { ServerList } from "./server-list.ts";
import type { SavedLists } from "./snapshot.ts";
import { ServerLists } from "./server-lists.ts";

const mostKept = 1_000;

/** The lists of every connection, and what happens to them: news, connects, and their end. */
export class AllLists {
  readonly #settings: CatalogSettings;
  readonly #rules: (server: string) => Rules;
  readonly #pinned: PinVerdicts;
  readonly #keepFresh: KeepFresh | undefined;
  /** By the text of their key. */
  readonly #byKey = new Map<string, { key: ConnectionKey; lists: ServerLists }>();

  constructor(settings: CatalogSettings, rules: (server: string) => Rules, pinned: PinVerdicts) {
    this.#settings = settings;
    this.#rules = rules;
    this.#pinned = pinned;
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
    const source = listSource(key, use, this.#settings);
    const lists = new ServerLists({
      ...source,
      load: async () => newest(await source.load(), this.#shared(key)),
      rules: () => this.#rules(key.server),
      onRead: (list, differs) => {
        if (differs) this.#tell(key, list);
        this.#keepFresh?.look(list);
      },
      onUnread: (list) => this.#keepFresh?.look(list),
    });
    this.#byKey.set(key.text, { key, lists });
    if (this.#byKey.size > mostKept) this.#dropOldest();
    return lists;
  }

  /** What a caller saw while it shared a connection is good enough to look at until its own is read. */
  #shared(key: ConnectionKey): SavedLists {
    const { servers } = this.#settings;
    const { server, caller, account, project, headers } = key;
    if (headers || caller === undefined || servers.entry(server).config?.isolation === "caller") return {};
    const shared = this.peek(servers.key(server, { account, project }));
    const known = listKinds.flatMap((kind) => {
      const list = shared?.list(kind).known;
      return list ? [[kind, { ...list, isSnapshot: true, session: undefined, changes: 0 }] as const] : [];
    });
    return Object.fromEntries(known);
  }

  /** Lists of callers who only looked have no connection whose end would take them along. */
  #dropOldest(): void {
    const { connections } = this.#settings.servers;
    for (const [text, { key, lists }] of this.#byKey) {
      if ((key.caller ?? key.headers) === undefined || connections.peek(key)) continue;
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

  #tell(key: ConnectionKey, { kind: listed, known }: ServerList): void {
    const { emit, now } = this.#settings;
    const about = { server: key.server, ...describeKey(key), at: now() };
    const kind = listed === "resourceTemplates" ? "resources" : listed;
    emit({ type: "catalog-changed", ...about, kind });
    // A tool says itself that it is set aside.
    if (listed === "tools") return;
    const { pins } = this.#rules(key.server);
    for (const entry of known?.entries ?? []) {
      const unpinned = listed === "resources" ? undefined : this.#pinned.of(pins, listed, entry);
      const reason = asideReason(entry) ?? unpinned?.because;
      if (reason === undefined) continue;
      const message = `"${String(entry["name"] ?? entry["uri"]).slice(0, 100)}" in the list of ${kind} is set aside: ${reason}`;
      emit({ type: "server-log", ...about, level: "warning", source: "transport", message });
    }
  }

  *#every(): Iterable<ServerList> {
    for (const { lists } of this.#byKey.values()) for (const kind of listKinds) yield lists.list(kind);
  }
}

function newest(one: SavedLists, other: SavedLists): SavedLists {
  const lists = listKinds.flatMap((kind) => {
    const list = (one[kind]?.at ?? 0) > (other[kind]?.at ?? 0) ? one[kind] : (other[kind] ?? one[kind]);
    return list ? [[kind, list] as const] : [];
  });
  return Object.fromEntries(lists);
}
