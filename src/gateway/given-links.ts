import type { Held, Holding } from "./holding.ts";
import type { Ledger } from "./ledger.ts";

/** A longer one is data rather than an address, and one server's must not push all others out. */
const maxUri = 64 * 1024;
/** What a link takes beside its text. */
const overhead = 160;

/** The server that last gave one caller a link, by URI, and whose app pages it has read. The oldest go first. */
export class GivenLinks implements Held {
  readonly hasParts = true;
  readonly #ledger: Ledger;
  readonly #caller: string;
  /** Its name there. */
  readonly #key: string;
  /** Where it is as long as it is not empty. */
  readonly #all: Map<string, GivenLinks>;
  readonly #servers = new Map<string, string>();
  #holding: Holding | undefined;

  constructor(
    ledger: Ledger,
    { caller, key }: { caller: string; key: string },
    all: Map<string, GivenLinks>,
  ) {
    this.#ledger = ledger;
    this.#caller = caller;
    this.#key = key;
    this.#all = all;
  }

  get(uri: string): string | undefined {
    this.#holding?.touch();
    return this.#servers.get(uri);
  }

  add(uri: string, server: string): void {
    this.#remove(uri);
    if (uri.length > maxUri) return;
    this.#holding ??= this.#ledger.hold(this.#caller, "links", this);
    if (!this.#holding) return;
    this.#all.set(this.#key, this);
    this.#servers.set(uri, server);
    this.#holding.grow(sizeOf(uri));
  }

  addPage(server: string): void {
    this.add(pageOf(server), server);
  }

  hasPage(server: string): boolean {
    return this.get(pageOf(server)) !== undefined;
  }

  evict(bytes: number): void {
    let freed = 0;
    for (const oldest of this.#servers.keys()) {
      if (freed >= bytes) break;
      freed += sizeOf(oldest);
      this.#remove(oldest);
    }
    if (this.#servers.size === 0) this.close();
  }

  close(): void {
    this.#servers.clear();
    this.#all.delete(this.#key);
    this.#holding?.release();
    this.#holding = undefined;
  }

  #remove(uri: string): void {
    if (this.#servers.delete(uri)) this.#holding?.shrink(sizeOf(uri));
  }
}

function sizeOf(uri: string): number {
  return uri.length + overhead;
}

/** No URI begins like this. */
function pageOf(server: string): string {
  return `\0${server}`;
}
