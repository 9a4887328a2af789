import { isPlugboardError, PlugboardError } from "../errors.ts";
import { waitCancelled } from "../lib/abortable.ts";
import { Pace, freshness } from "./freshness.ts";
import type { Freshness } from "./freshness.ts";
import { knownList } from "./known-list.ts";
import type { KnownList, ListKind } from "./known-list.ts";
import { requestList } from "./list-request.ts";
import type { ListSource } from "./list-request.ts";
import { SharedWork } from "./shared-work.ts";

interface ListEvents {
  /** Called before anybody sees a new list; nobody sees half of one. */
  prepare(list: KnownList): Promise<void>;
  onRead(differs: boolean): void;
  onFailed(error: PlugboardError): void;
}

interface Failure {
  error: PlugboardError;
  session: number | undefined;
  count: number;
  retryAt: number;
}

/** One question to the server. */
interface Reading {
  work: SharedWork<KnownList>;
  /** How often the list was said to have changed when the question was sent; Infinity before that. */
  changes: number;
}

const firstRetryMs = 1_000;
const longestRetryMs = 60_000;
/** Lists that expire sooner are read that often by those who need them, but not behind everybody's back. */
const shortestTtlMs = 10_000;

/** One list of one connection: the last good one, how good it still is, and the next reading of it. */
export class ServerList {
  readonly kind: ListKind;
  readonly #source: ListSource;
  readonly #events: ListEvents;
  readonly #pace = new Pace();
  #known: KnownList | undefined;
  #failure: Failure | undefined;
  #reading: Reading | undefined;
  #changes = 0;

  constructor(kind: ListKind, source: ListSource, events: ListEvents) {
    this.kind = kind;
    this.#source = source;
    this.#events = events;
  }

  get known(): KnownList | undefined {
    return this.#known;
  }

  /** True when calls may be checked against it. */
  get isConfirmed(): boolean {
    return this.#freshness() === "confirmed";
  }

  /** True when it may be shown without asking the server. */
  get isFresh(): boolean {
    const state = this.#freshness();
    return state === "confirmed" || state === "unconfirmed";
  }

  /** Takes a list from an earlier run, where nothing better is known. */
  remember(list: KnownList): void {
    this.#known ??= list;
  }

  /** The server said that it changed. Only marks: it may say so a thousand times a second. */
  invalidate(): void {
    this.#changes++;
    // A server that tells of changes is worth another try.
    const { now } = this.#source;
    const failure = this.#failure;
    if (failure && failure.error.retryAfterMs === undefined)
      failure.retryAt = Math.min(failure.retryAt, now() + firstRetryMs);
  }

  /**
   * A list to show. The server is asked, and waited for, when there is no fresh one. Where that failed before, what is
   * known is the answer and the server is asked behind it.
   */
  async read(signal?: AbortSignal): Promise<KnownList> {
    const known = this.#known;
    if (known && this.isFresh) return known;
    if (known && this.#freshness() === "changed" && !this.#pace.mayReadToList(this.#source.now()))
      return known;
    const trouble = this.#trouble();
    if (trouble) {
      if (this.#source.now() >= trouble.retryAt) this.readBehind();
      if (known) return known;
      throw trouble.error;
    }
    try {
      return await this.#readSince(signal);
    } catch (error) {
      if (!known || signal?.aborted || !isPlugboardError(error)) throw error;
      return known;
    }
  }

  /**
   * A list to act on: read in the running session, and after the last change that the server had told of when somebody
   * began to need it. What it says while the list is being read is for the next one.
   */
  async confirm(signal?: AbortSignal): Promise<KnownList> {
    const known = this.#known;
    if (known && this.isConfirmed) return known;
    const { now, session } = this.#source;
    const isCurrent = known && !known.isSnapshot && known.session === session();
    if (isCurrent && this.#freshness() === "changed" && !this.#pace.mayReadToCall(now())) return known;
    return this.#readSince(signal);
  }

  /** Asks the server, whatever is known. Concurrent callers share the question. */
  async refresh(signal?: AbortSignal): Promise<KnownList> {
    if (signal?.aborted) throw waitCancelled(signal, this.#source.server);
    if (!this.#reading || this.#reading.work.isGivenUp) this.#reading = this.#begin();
    return this.#reading.work.join(signal);
  }

  /** Asks without anybody waiting. */
  readBehind(): void {
    this.refresh().catch(() => undefined);
  }

  /** When it should be read without anybody asking. No server is started for that, and nothing is read twice at once. */
  get dueAt(): number {
    if (this.#reading || this.#source.session() === undefined) return Infinity;
    const trouble = this.#trouble();
    if (trouble) return trouble.retryAt;
    const isUnread = !this.#known || this.#known.isSnapshot || this.#known.session !== this.#source.session();
    if (!this.#known || isUnread) return -Infinity;
    if (this.#freshness() === "changed") return this.#pace.nextAt;
    return this.#known.at + Math.max(this.#known.ttlMs, shortestTtlMs);
  }

  #freshness(): Freshness | undefined {
    const { now, session } = this.#source;
    return this.#known && freshness(this.#known, { now: now(), session: session(), changes: this.#changes });
  }

  /** What failed the last time, as long as nothing has happened that makes another try promising. */
  #trouble(): Pick<Failure, "error" | "retryAt"> | undefined {
    if (this.#failure && !this.#source.isAnew(this.#failure.session)) return this.#failure;
    const error = this.#source.trouble();
    return error && { error, retryAt: -Infinity };
  }

  /** Waits for a reading that began after everything that the server has said so far. */
  async #readSince(signal: AbortSignal | undefined): Promise<KnownList> {
    const isTooOld = this.#reading && this.#reading.changes < this.#changes;
    if (isTooOld) await this.refresh(signal).catch(() => undefined);
    return this.refresh(signal);
  }

  #begin(): Reading {
    const reading: Partial<Reading> & Pick<Reading, "changes"> = { changes: Infinity };
    reading.work = new SharedWork(this.#source.server, async (signal) => {
      // The reading is known to everybody before it does anything.
      await Promise.resolve();
      const isCurrent = () => this.#reading === reading && !signal.aborted;
      try {
        const list = await this.#request(reading, signal);
        await this.#events.prepare(list);
        signal.throwIfAborted();
        if (isCurrent()) this.#take(list);
        return list;
      } catch (error) {
        const failure = signal.aborted || isPlugboardError(error) ? error : this.#unreadable(error);
        if (isCurrent() && isPlugboardError(failure)) this.#fail(failure);
        throw failure;
      } finally {
        if (this.#reading === reading) this.#reading = undefined;
      }
    });
    return reading as Reading;
  }

  async #request(reading: { changes: number }, signal: AbortSignal): Promise<KnownList> {
    const { ttlMs: ownTtlMs, now } = this.#source;
    let session: number | undefined;
    const read = await requestList(this.kind, this.#source, signal, () => {
      session = this.#source.session();
      reading.changes = this.#changes;
    });
    // Many servers say 0 for want of an opinion. Where changes are told, that means our own default; otherwise it counts.
    const isStaleAtOnce = read.ttlMs === 0 && !read.tellsChanges;
    const ttlMs = isStaleAtOnce ? 0 : read.ttlMs || ownTtlMs;
    const age = { at: now(), ttlMs, isSnapshot: false, session, changes: reading.changes };
    return knownList(read, age, this.#known);
  }

  /** Whatever goes wrong while a list is judged is that list's mistake. */
  #unreadable(cause: unknown): PlugboardError {
    const { server } = this.#source;
    const message = `"${server}" sent a list of ${this.kind} that cannot be read.`;
    return new PlugboardError("protocol-error", message, { server, cause });
  }

  #take(list: KnownList): void {
    const before = this.#known;
    const differs = before?.hash !== list.hash;
    if (before && before.changes < list.changes) this.#pace.reread(list.at, differs);
    this.#known = list;
    this.#failure = undefined;
    this.#reading = undefined;
    this.#events.onRead(differs);
  }

  #fail(error: PlugboardError): void {
    const session = this.#source.session();
    const count = (this.#failure?.count ?? 0) + 1;
    const retryAt = this.#source.now() + retryMs(error, session, count);
    this.#failure = { error, session, count, retryAt };
    this.#reading = undefined;
    this.#events.onFailed(error);
  }
}

/**
 * A server that is down is tried as often as its connection allows. One that is up and fails is asked again soon, ever
 * more slowly while it goes on: reading has no side effects, and what looks like a mistake may have passed. Not before
 * it said, if it did.
 */
function retryMs({ retryAfterMs = 0 }: PlugboardError, session: number | undefined, count: number): number {
  if (session === undefined) return 0;
  return Math.max(retryAfterMs, Math.min(longestRetryMs, firstRetryMs * 2 ** (count - 1)));
}
