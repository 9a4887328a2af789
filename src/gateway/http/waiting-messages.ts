import type { Held, Holding } from "../holding.ts";
import type { Ledger } from "../ledger.ts";

/** How many messages wait for a session; the oldest go first. */
const maxWaiting = 100;
/** What a message takes beside its text. */
const overhead = 64;

/** The messages of one session that wait for a stream that listens. */
export class WaitingMessages implements Held {
  readonly hasParts = true;
  readonly #ledger: Ledger;
  readonly #caller: string;
  #texts: string[] = [];
  #holding: Holding | undefined;

  constructor(ledger: Ledger, caller: string) {
    this.#ledger = ledger;
    this.#caller = caller;
  }

  push(text: string): void {
    this.#holding ??= this.#ledger.hold(this.#caller, "messages", this);
    if (!this.#holding) return;
    if (this.#texts.length >= maxWaiting) this.#drop();
    this.#texts.push(text);
    this.#holding.grow(sizeOf(text));
  }

  /** All of them, the oldest first. None waits any longer. */
  takeAll(): string[] {
    const texts = this.#texts;
    this.#texts = [];
    this.#holding?.release();
    this.#holding = undefined;
    return texts;
  }

  evict(bytes: number): void {
    for (let freed = 0; freed < bytes && this.#texts.length > 0;) freed += this.#drop();
  }

  #drop(): number {
    const bytes = sizeOf(this.#texts.shift() ?? "");
    this.#holding?.shrink(bytes);
    return bytes;
  }
}

function sizeOf(text: string): number {
  return text.length + overhead;
}
