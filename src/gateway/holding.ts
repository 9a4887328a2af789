import type { KindOfHeld } from "./ledger.ts";

/** Something that can be given up. */
export interface Held {
  /** True while it is in use, so that something else has to go. Without this it never is. */
  isBusy?(): boolean;
  /** Ends it; it is not in the ledger any longer. One that has parts gives up at least this many bytes, and shrinks. */
  evict(bytes: number): void;
  /** It can give up a part of itself. */
  readonly hasParts?: boolean;
}

/** Only its holder ends it. */
export const inUse: Held = { isBusy: () => true, evict: () => undefined };

/** What one caller has of one kind, the least recently used first. */
export class Account {
  readonly caller: string;
  count = 0;
  bytes = 0;
  first: Holding | undefined;
  last: Holding | undefined;

  constructor(caller: string) {
    this.caller = caller;
  }

  /** When its oldest was used. */
  get usedAt(): number {
    return this.first?.usedAt ?? Infinity;
  }

  /** False if nothing is idle. */
  evictOldest(bytes: number, newest: Holding | undefined): boolean {
    let idle: Holding | undefined;
    for (let one = this.first; one && !idle; one = one.next)
      if (one !== newest && !one.isBusy() && (one.bytes > 0 || !one.held.hasParts)) idle = one;
    if (!idle && newest?.held.hasParts && newest.isOf(this) && newest.bytes > 0) idle = newest;
    return idle?.evict(bytes) ?? false;
  }
}

/** One thing that is held for a caller, until it is released or evicted. */
export class Holding {
  readonly held: Held;
  bytes: number;
  usedAt: number;
  next: Holding | undefined;
  #before: Holding | undefined;
  #account: Account;
  readonly #kind: KindOfHeld;
  #isOver = false;

  constructor(kind: KindOfHeld, account: Account, held: Held, bytes: number) {
    this.#kind = kind;
    this.#account = account;
    this.held = held;
    this.bytes = bytes;
    this.usedAt = ++kind.uses;
    this.#join();
  }

  get caller(): string {
    return this.#account.caller;
  }

  isOf(account: Account): boolean {
    return this.#account === account;
  }

  isBusy(): boolean {
    return this.held.isBusy?.() === true;
  }

  /** It was used just now. */
  touch(): void {
    const account = this.#account;
    this.usedAt = ++this.#kind.uses;
    if (account.last === this || this.#isOver) return;
    this.#unlink();
    this.#link(account);
  }

  /** It has grown; something idle may have to go for that. False if that was not enough. */
  grow(bytes: number): boolean {
    if (this.#isOver) return false;
    this.touch();
    this.#count(bytes);
    return this.#kind.makeRoom(this.#account, 0, 0, this);
  }

  shrink(bytes: number): void {
    if (!this.#isOver) this.#count(-bytes);
  }

  /** It belongs to another caller from now on, unless that one has no room. */
  moveTo(caller: string): boolean {
    if (this.#isOver || caller === this.caller) return !this.#isOver;
    const before = this.#account;
    this.#leave();
    const next = this.#kind.account(caller);
    const hasRoom = this.#kind.makeRoom(next, 1, this.bytes);
    if (!hasRoom) this.#kind.forgetIfEmpty(next);
    this.#account = hasRoom ? next : this.#kind.account(before.caller);
    this.#join();
    return hasRoom;
  }

  release(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#leave();
  }

  /** True if there is less of it now. */
  evict(bytes: number): boolean {
    const before = this.bytes;
    if (!this.held.hasParts) this.release();
    this.held.evict(bytes);
    return this.#isOver || this.bytes < before;
  }

  #count(bytes: number): void {
    this.bytes += bytes;
    this.#account.bytes += bytes;
    this.#kind.bytes += bytes;
  }

  #join(): void {
    this.#link(this.#account);
    this.#account.count++;
    this.#account.bytes += this.bytes;
    this.#kind.count++;
    this.#kind.bytes += this.bytes;
  }

  #leave(): void {
    this.#unlink();
    this.#account.count--;
    this.#account.bytes -= this.bytes;
    this.#kind.count--;
    this.#kind.bytes -= this.bytes;
    this.#kind.forgetIfEmpty(this.#account);
  }

  #link(account: Account): void {
    this.#before = account.last;
    if (account.last) account.last.next = this;
    else account.first = this;
    account.last = this;
  }

  #unlink(): void {
    const { next } = this;
    const before = this.#before;
    if (before) before.next = next;
    else this.#account.first = next;
    if (next) next.#before = before;
    else this.#account.last = before;
    this.#before = undefined;
    this.next = undefined;
  }
}
