import type { GatewayLimits } from "./http/limits.ts";
import { Account, Holding } from "./holding.ts";
import type { Held } from "./holding.ts";

/** What the gateway holds for its callers beyond a single request. */
export type HeldKind =
  | "connections"
  | "spareConnections"
  | "sessions"
  | "streams"
  | "messages"
  | "replay"
  | "parked"
  | "tasks"
  | "subscriptions"
  | "links"
  | "lists"
  | "views";

/** How much of one kind is held, in number and in bytes. */
export interface HoldLimit {
  perCaller: number;
  total: number;
  bytesPerCaller: number;
  bytes: number;
}

type HoldLimits = Record<HeldKind, HoldLimit>;

/**
 * Everything that the gateway holds, by kind and caller. A caller that has all it may have gives up what it has not used
 * for longest. If it is too much for all callers together, the one with the most gives way, and never one that has less
 * than the caller that wants more. What is in use stays.
 */
export class Ledger {
  readonly #kinds: Record<HeldKind, KindOfHeld>;

  constructor(limits: HoldLimits) {
    const kinds = Object.entries(limits).map(([kind, limit]) => [kind, new KindOfHeld(limit)]);
    this.#kinds = Object.fromEntries(kinds) as Record<HeldKind, KindOfHeld>;
  }

  /** Undefined if there is no room and nothing idle that could make some. */
  hold(caller: string, kind: HeldKind, held: Held, bytes = 0): Holding | undefined {
    return this.#kinds[kind].hold(caller, held, bytes);
  }

  /** How many there are of a kind, and their bytes: of one caller, or of all. */
  held(kind: HeldKind, caller?: string): { count: number; bytes: number } {
    const of = this.#kinds[kind];
    const { count, bytes } = caller === undefined ? of : (of.accounts.get(caller) ?? nothing);
    return { count, bytes };
  }
}

const nothing = { count: 0, bytes: 0 };

/** All that is held of one kind. */
export class KindOfHeld {
  readonly accounts = new Map<string, Account>();
  count = 0;
  bytes = 0;
  /** Counts uses, so that it can be told what was used before what. */
  uses = 0;
  readonly #limit: HoldLimit;

  constructor(limit: HoldLimit) {
    this.#limit = limit;
  }

  hold(caller: string, held: Held, bytes: number): Holding | undefined {
    const account = this.account(caller);
    if (this.makeRoom(account, 1, bytes)) return new Holding(this, account, held, bytes);
    this.forgetIfEmpty(account);
    return undefined;
  }

  account(caller: string): Account {
    const known = this.accounts.get(caller);
    if (known) return known;
    const account = new Account(caller);
    this.accounts.set(caller, account);
    return account;
  }

  forgetIfEmpty(account: Account): void {
    if (account.count === 0) this.accounts.delete(account.caller);
  }

  /** Makes room for this much more. `newest` goes last, and only in part. False if there is not enough that is idle. */
  makeRoom(account: Account, count: number, bytes: number, newest?: Holding): boolean {
    const { perCaller, total, bytesPerCaller, bytes: allBytes } = this.#limit;
    while (account.count + count > perCaller || account.bytes + bytes > bytesPerCaller)
      if (!account.evictOldest(account.bytes + bytes - bytesPerCaller, newest)) return false;
    while (this.count + count > total || this.bytes + bytes > allBytes) {
      const by = this.bytes + bytes > allBytes ? "bytes" : "count";
      const over = this.bytes + bytes - allBytes;
      const wanted = by === "bytes" ? bytes : count;
      if (!this.#largest(by, account, wanted).some((one) => one.evictOldest(over, newest))) return false;
    }
    return true;
  }

  /** Those that have as much as this account wants to have, and it itself: the largest first. */
  #largest(by: "bytes" | "count", account: Account, wanted: number): Account[] {
    const [first] = this.accounts.values();
    if (this.accounts.size === 1 && first) return [first];
    const least = account[by] + wanted;
    return [...this.accounts.values()]
      .filter((one) => one === account || one[by] >= least)
      .toSorted((one, other) => other[by] - one[by] || one.usedAt - other.usedAt);
  }
}

const noLimit: HoldLimit = {
  perCaller: Infinity,
  total: Infinity,
  bytesPerCaller: Infinity,
  bytes: Infinity,
};

/** What callers see of an endpoint. All of it can be made again. */
const maxViews = 1_000;

/** How many connections are accepted while all others are in use: for signs of life, and for who answers questions. */
export function spareConnections({ connections }: Pick<GatewayLimits, "connections">): number {
  return Math.max(8, Math.ceil(connections / 10));
}

/** The limits of each kind, as they are configured. */
export function holdLimits(limits: GatewayLimits): HoldLimits {
  const bytes = { bytesPerCaller: limits.heldBytesPerCaller, bytes: limits.heldBytes };
  const kept = { ...noLimit, ...bytes };
  return {
    // However many one caller has, others get in.
    connections: {
      ...noLimit,
      perCaller: Math.ceil(limits.connections * 0.75),
      total: limits.connections,
    },
    spareConnections: { ...noLimit, total: spareConnections(limits) },
    sessions: { ...bytes, perCaller: limits.sessionsPerCaller, total: limits.sessions },
    streams: { ...bytes, perCaller: limits.streamsPerCaller, total: Infinity },
    messages: kept,
    replay: { ...noLimit, bytes: limits.replayBytes },
    parked: { ...bytes, perCaller: limits.parkedCallsPerCaller, total: limits.parkedCalls },
    tasks: { ...bytes, perCaller: limits.tasksPerCaller, total: limits.tasks },
    subscriptions: { ...bytes, perCaller: limits.subscriptionsPerCaller, total: limits.subscriptions },
    links: kept,
    lists: kept,
    views: { ...noLimit, total: maxViews },
  };
}
