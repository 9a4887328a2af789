const maxLinks = 10_000;
const maxCharacters = 1024 * 1024;
/** A longer one is data rather than an address, and one server's must not push all others out. */
const maxUri = 64 * 1024;

/** The server that last gave one caller a link, by URI. Bounded in number and length; the oldest go first. */
export class GivenLinks {
  readonly #servers = new Map<string, string>();
  #characters = 0;

  get(uri: string): string | undefined {
    return this.#servers.get(uri);
  }

  add(uri: string, server: string): void {
    this.#remove(uri);
    if (uri.length > maxUri) return;
    this.#servers.set(uri, server);
    this.#characters += uri.length;
    for (const [oldest] of this.#servers) {
      if (this.#servers.size <= maxLinks && this.#characters <= maxCharacters) break;
      this.#remove(oldest);
    }
  }

  #remove(uri: string): void {
    if (this.#servers.delete(uri)) this.#characters -= uri.length;
  }
}
