import { shownServer } from "./names.ts";
import type { Naming } from "./names.ts";

/** A server that a query may refer to, and the name of the tool or prompt there; no name if the query is an id. */
export interface Meant {
  server: string;
  name?: string;
}

/** Finds the servers that a query may refer to, without iterating over all of them. */
export class ServersMeant {
  readonly #naming: Naming;
  readonly #isServer: (name: string) => boolean;
  /** By their name in ids: the legal characters of their own name, which several servers may share. */
  readonly #byShown = new Map<string, string[]>();

  constructor(servers: ReadonlyMap<string, unknown>, naming: Naming) {
    this.#naming = naming;
    this.#isServer = (name) => servers.has(name);
    for (const server of servers.keys())
      for (const shown of new Set([server, shownServer(server, naming)]))
        this.#byShown.set(shown, [...(this.#byShown.get(shown) ?? []), server]);
  }

  /** The servers that may have this id; nearly always one. */
  byId(id: string): readonly string[] {
    const { style } = this.#naming;
    if (style === "mcp" && !id.startsWith("mcp__")) return none;
    const start = style === "mcp" ? 5 : 0;
    const end = id.indexOf("__", start);
    return end === -1 ? none : (this.#byShown.get(id.slice(start, end)) ?? none);
  }

  /** The servers that an id, `server.name` or `server/name` may refer to; none for a bare name. */
  by(query: string): Meant[] {
    const byPrefix = [...query.matchAll(/[./]/g)].flatMap(({ index }) => {
      const server = query.slice(0, index);
      return this.#isServer(server) ? [{ server, name: query.slice(index + 1) }] : [];
    });
    return [...this.byId(query).map((server) => ({ server })), ...byPrefix];
  }
}

const none: readonly string[] = [];
