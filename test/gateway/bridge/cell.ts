import { stdioCaller } from "../../../src/gateway/stdio.ts";
import type { ClientOptions, Fields, Seen, Sent, TestClient } from "../clients/client.ts";
import type { Heard, Upstream, UpstreamKind } from "../upstreams.ts";
import { features, type FeatureId, type Outcome, type Pair } from "./features.ts";
import type { ClientKind, Scene } from "./scene.ts";

/** One client, one server and one feature. */
export interface Cell {
  /** Used by all cells of this pair; what it saw is what it saw in this one. */
  client: TestClient;
  /** A client of its own. */
  fresh(options?: ClientOptions): Promise<TestClient>;
  upstream: Upstream;
  pair: Pair;
  outcome: Outcome;
  /** The gateway's name of a tool or prompt of the server. */
  name(own: string): string;
  /** What the server received during this cell. */
  heard(method?: string): Heard[];
  /** The server's answers to its own questions as it received them. */
  answers(): Fields[];
}

export type RunCell = (cell: Cell) => Promise<void>;

/** Clients of both transports are one caller: on a pipe, nothing shows whose the messages of a server are otherwise. */
const onlyCaller = { caller: stdioCaller };

/** Runs the cells of one feature, or of several, for a client and a server. */
export class Table {
  readonly #scene: Scene;
  readonly #clients = new Map<string, Promise<TestClient>>();

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  async run(id: FeatureId, clientKind: ClientKind, upstreamKind: UpstreamKind, run: RunCell): Promise<void> {
    const upstream = this.#scene.upstream(upstreamKind);
    const key = `${clientKind} ${upstreamKind}`;
    const shared = this.#clients.get(key) ?? this.#scene.client(clientKind, onlyCaller);
    this.#clients.set(key, shared);
    const client = await shared;
    client.seen.length = 0;
    client.answer = (method) => {
      throw new Error(`${method} was not expected`);
    };
    const pair = `${client.era}-${upstream.era}` as Pair;
    const begin = upstream.heard().length;
    const heard = (method?: string): Heard[] =>
      upstream
        .heard()
        .slice(begin)
        .filter(({ message }) => method === undefined || message.method === method);
    await run({
      client,
      upstream,
      pair,
      outcome: features[id].pairs[pair],
      fresh: (options) => this.#scene.client(clientKind, { ...onlyCaller, ...options }),
      name: (own) => `${upstreamKind}__${own}`,
      heard,
      answers: () =>
        heard()
          .map(({ message }) => message)
          .filter((message) => message.method === undefined && message["id"] !== undefined),
    });
  }
}

/** Waits for something that another process or socket does. */
export async function until(what: string, check: () => boolean | Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 3_000; turn++) {
    if (await check()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`did not happen: ${what}`);
}

/** Fails if the client saw this on another stream than that of its request. */
export function isOnStreamOf(sent: Sent, client: TestClient, seen: Seen): boolean {
  return client.wire.transport === "stdio" ? seen.stream === "pipe" : seen.stream === String(sent.id);
}

/** How many requests the server knows to be cancelled. */
export async function cancelledAt({ client, name }: Cell): Promise<number> {
  const { structuredContent } = await client.result(client.call(name("cancelled")));
  return (structuredContent as { ids: unknown[] }).ids.length;
}

/** All pages of a list. */
export async function allOf(client: TestClient, method: string, key: string): Promise<Fields[]> {
  const entries: Fields[] = [];
  let cursor: unknown;
  for (let page = 0; page < 100; page++) {
    const result = await client.result(client.request(method, cursor === undefined ? {} : { cursor }));
    entries.push(...(result[key] as Fields[]));
    cursor = result["nextCursor"];
    if (cursor === undefined) return entries;
  }
  throw new Error(`${method} does not end`);
}
