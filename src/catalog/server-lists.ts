import { isPlugboardError } from "../errors.ts";
import type { PlugboardError } from "../errors.ts";
import type { JsonRpcAnswer } from "../servers/rpc/lane.ts";
import { readPages } from "./pages.ts";

export type ListKind = "tools" | "resources" | "resourceTemplates" | "prompts";
export type RawEntry = Record<string, unknown>;

export interface KnownList {
  entries: readonly RawEntry[];
  /** When the server said so, milliseconds since the epoch. */
  at: number;
  ttlMs: number;
  /** Not asked in this run: remembered from an earlier one. */
  isSnapshot: boolean;
  /** The last refresh failed, so this is the last good list. */
  error?: PlugboardError;
}

/** How one server's lists are had. */
export interface ListSource {
  server: string;
  /** What a list is good for when the server does not say. */
  ttlMs: number;
  /** Connects if need be, and says what the server can do. */
  capabilities(): Promise<Record<string, unknown>>;
  ask(method: string, params: Record<string, unknown>): Promise<JsonRpcAnswer>;
  loadSnapshot(): Promise<Partial<Record<ListKind, Pick<KnownList, "entries" | "at" | "ttlMs">>>>;
  saveSnapshot(lists: Partial<Record<ListKind, KnownList>>): Promise<void>;
  onRefreshed(kind: ListKind, changed: boolean): void;
  onFailed(error: PlugboardError): void;
  now(): number;
}

const methods: Record<ListKind, { method: string; capability: string }> = {
  tools: { method: "tools/list", capability: "tools" },
  resources: { method: "resources/list", capability: "resources" },
  resourceTemplates: { method: "resources/templates/list", capability: "resources" },
  prompts: { method: "prompts/list", capability: "prompts" },
};

/** What one server offers, as far as it is known: asked once, remembered, refreshed when it is old or said to have changed. */
export class ServerLists {
  readonly #source: ListSource;
  readonly #known = new Map<ListKind, KnownList>();
  readonly #reading = new Map<ListKind, Promise<KnownList>>();
  readonly #stale = new Set<ListKind>();
  #snapshot: Promise<void> | undefined;

  constructor(source: ListSource) {
    this.#source = source;
  }

  /** What is known right now, from this run or an earlier one. Starts nothing. */
  async peek(kind: ListKind): Promise<KnownList | undefined> {
    await (this.#snapshot ??= this.#recall());
    return this.#known.get(kind);
  }

  /** A list that is fresh enough; the server is asked only when there is none. The last good one when asking fails. */
  async read(kind: ListKind): Promise<KnownList> {
    const known = await this.peek(kind);
    if (known && this.#isFresh(kind, known)) return known;
    try {
      return await this.refresh(kind);
    } catch (error) {
      if (known && isPlugboardError(error)) return { ...known, error };
      throw error;
    }
  }

  /** Asks the server. Concurrent callers share the question. */
  refresh(kind: ListKind): Promise<KnownList> {
    const running = this.#reading.get(kind);
    if (running) return running;
    this.#stale.delete(kind);
    const reading = this.#ask(kind).finally(() => this.#reading.delete(kind));
    this.#reading.set(kind, reading);
    return reading;
  }

  /** Said by the server in this run, and not said to have changed since. */
  isConfirmed(kind: ListKind): boolean {
    const known = this.#known.get(kind);
    return known !== undefined && !known.isSnapshot && this.#isFresh(kind, known);
  }

  /** The server said that a list changed: the next reader asks anew. */
  invalidate(kind: ListKind): void {
    this.#stale.add(kind);
  }

  #isFresh(kind: ListKind, { at, ttlMs }: KnownList): boolean {
    return !this.#stale.has(kind) && this.#source.now() - at < ttlMs;
  }

  async #ask(kind: ListKind): Promise<KnownList> {
    const { server, now } = this.#source;
    const { method, capability } = methods[kind];
    try {
      const capabilities = await this.#source.capabilities();
      const { entries, ttlMs } = capabilities[capability]
        ? await readPages(server, kind, (params) => this.#source.ask(method, params))
        : { entries: [], ttlMs: undefined };
      // Many servers say 0 for want of an opinion; changes are told by notifications, so that means our own default.
      const list: KnownList = { entries, at: now(), ttlMs: ttlMs || this.#source.ttlMs, isSnapshot: false };
      const before = this.#known.get(kind);
      this.#known.set(kind, list);
      this.#source.onRefreshed(kind, before === undefined || !sameEntries(before.entries, entries));
      await this.#source.saveSnapshot(Object.fromEntries(this.#known));
      return list;
    } catch (error) {
      // Templates are optional even where resources are not.
      if (kind === "resourceTemplates" && isPlugboardError(error, "protocol-error")) {
        const none: KnownList = { entries: [], at: now(), ttlMs: this.#source.ttlMs, isSnapshot: false };
        this.#known.set(kind, none);
        return none;
      }
      if (isPlugboardError(error, "protocol-error")) this.#source.onFailed(error);
      throw error;
    }
  }

  async #recall(): Promise<void> {
    const lists = await this.#source.loadSnapshot();
    for (const [kind, list] of Object.entries(lists)) {
      if (!this.#known.has(kind as ListKind))
        this.#known.set(kind as ListKind, { ...list, isSnapshot: true });
    }
  }
}

function sameEntries(a: readonly RawEntry[], b: readonly RawEntry[]): boolean {
  return a.length === b.length && JSON.stringify(a) === JSON.stringify(b);
}
