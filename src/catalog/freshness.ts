/** What is known about when, and in which session, a list was read. */
export interface ListAge {
  /** When the server said so, milliseconds since the epoch. */
  at: number;
  ttlMs: number;
  /** Not asked in this run: remembered from an earlier one. */
  isSnapshot: boolean;
  /** Which session of the connection it was read in. */
  session: number | undefined;
  /** How often the server had said that the list changed when it was asked. */
  changes: number;
}

export interface Moment {
  now: number;
  /** The running session; undefined while there is none. */
  session: number | undefined;
  /** How often the server has said by now that the list changed. */
  changes: number;
}

/** What a list is good for. Decided here only, and alike for servers of both eras. */
export type Freshness =
  /** Read in the running session, not expired, and not said to have changed: calls are checked against it. */
  | "confirmed"
  /** Not expired and not said to have changed, but nobody is connected who could say so, or it is from an earlier run:
   * good enough to look at. */
  | "unconfirmed"
  /** The server said that it changed, or may have said so in vain: the list is from an earlier session of this run. */
  | "changed"
  | "expired";

export function freshness(list: ListAge, { now, session, changes }: Moment): Freshness {
  if (now - list.at >= list.ttlMs) return "expired";
  if (list.changes < changes) return "changed";
  if (list.isSnapshot || session === undefined) return "unconfirmed";
  return list.session === session ? "confirmed" : "changed";
}

const firstPauseMs = 1_000;
const longestPauseMs = 30_000;
/** Honest servers change their lists a few times in a row; only what goes on is slowed down. */
const free = 3;

/**
 * How often a list is read again whose server keeps saying that it changed. Reading is the expensive part, and a
 * server may say so a thousand times a second:
 * - behind everybody's back at most once in a pause, which grows from 1 s to 30 s while the changes go on;
 * - for somebody who lists, the same after the first few times;
 * - for a call whenever the list did change the last times: a call must not be checked against an old schema. Only
 *   when several readings in a row found nothing different is the server not believed until the pause is over.
 */
export class Pace {
  #last = -Infinity;
  #inARow = 0;
  #nothingNew = 0;

  /** A list that was said to have changed has been read again. */
  reread(now: number, differs: boolean): void {
    const isInARow = now - this.#last <= 2 * pauseMs(this.#inARow);
    this.#inARow = isInARow ? this.#inARow + 1 : 0;
    this.#nothingNew = differs ? 0 : this.#nothingNew + 1;
    this.#last = now;
  }

  /** When it may be read again without anybody asking. */
  get nextAt(): number {
    return this.#last + pauseMs(this.#inARow);
  }

  mayReadToList(now: number): boolean {
    return this.#inARow < free || this.#isOver(now, this.#inARow - free);
  }

  mayReadToCall(now: number): boolean {
    return this.#nothingNew < free || this.#isOver(now, this.#nothingNew - free);
  }

  /** A clock that was put back ends the pause. */
  #isOver(now: number, times: number): boolean {
    return now >= this.#last + pauseMs(times) || now < this.#last;
  }
}

function pauseMs(times: number): number {
  return Math.min(longestPauseMs, firstPauseMs * 2 ** times);
}
