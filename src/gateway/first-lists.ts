import type { ListState } from "../host.ts";
import type { View } from "../index.ts";
import { untilAborted } from "../lib/abortable.ts";
import { startDeadline } from "../lib/deadline.ts";
import type { ListName } from "./list-pages.ts";

/** How long the first lists wait while nothing at all is known. */
const firstMs = 5_000;
/** How long they wait at least for more after something came. */
const graceMs = 1_000;
/** How long a server that is up may take for its list. */
const listMs = 300;

/**
 * Reads the lists that are not known yet, in the background. A client that lists at once after a first start gets what
 * comes soon, because some clients never list again; a server that hangs delays nobody.
 */
export class FirstLists {
  readonly #startedAt = performance.now();
  readonly #reading = new Map<string, Promise<void>>();
  readonly #onRead: (name: ListName) => void;
  readonly #isConnected: (server: string) => boolean;
  /** When a server's list was first missed although the server was connected. */
  readonly #missedAt = new Map<string, number>();
  #lastReadAt = -Infinity;
  /** Resolves with the next list that was read. */
  #next = Promise.withResolvers<"read">();

  constructor(onRead: (name: ListName) => void, isConnected: (server: string) => boolean) {
    this.#onRead = onRead;
    this.#isConnected = isConnected;
  }

  /** Resolves when the list is worth giving out. */
  async wait(name: ListName, caller: string, view: View, signal: AbortSignal): Promise<void> {
    const unknown = (await view.listStates(name)).filter(isUnknown);
    if (unknown.length === 0) return;
    const all = Promise.all(unknown.map(({ server }) => this.#read(name, server, caller, view)));
    for (;;) {
      const states = await view.listStates(name);
      const patience = states.some(isUnknown) ? this.#patience(states) : 0;
      if (patience <= 0) return;
      using over = startDeadline(patience);
      const isRead = Promise.race([this.#next.promise, all.then(() => "over" as const)]);
      const until = AbortSignal.any([signal, over.signal]);
      if ((await untilAborted(isRead, until).catch(() => "over" as const)) === "over") return;
    }
  }

  #patience(states: readonly ListState[]): number {
    const now = performance.now();
    const left = this.#startedAt + firstMs - now;
    const isAnythingKnown = states.some((state) => !isUnknown(state));
    // On a busy machine the others may take twice as long again as the slowest so far.
    const grace = Math.max(graceMs, 2 * (this.#lastReadAt - this.#startedAt));
    const patience = isAnythingKnown ? Math.min(left, this.#lastReadAt + grace - now) : left;
    return Math.max(patience, this.#untilListed(states, now));
  }

  /** The list of a server that is up comes in a moment, unless it hangs. */
  #untilListed(states: readonly ListState[], now: number): number {
    const due = states.filter((state) => isUnknown(state) && this.#isConnected(state.server));
    const left = due.map(({ server }) => {
      const missedAt = this.#missedAt.get(server) ?? now;
      this.#missedAt.set(server, missedAt);
      return missedAt + listMs - now;
    });
    return Math.max(0, ...left);
  }

  /** Reads one list of one server, once at a time. A server that fails is read again with the next list. */
  #read(name: ListName, server: string, caller: string, view: View): Promise<void> {
    const key = JSON.stringify([name, server, caller]);
    const known = this.#reading.get(key);
    if (known) return known;
    const reading = listOf(name, view.view({ servers: [server] }))
      .then(async () => {
        const [state] = (await view.listStates(name)).filter((one) => one.server === server);
        if (!state || isUnknown(state)) return;
        this.#lastReadAt = performance.now();
        this.#onRead(name);
        const { resolve } = this.#next;
        this.#next = Promise.withResolvers<"read">();
        resolve("read");
      })
      .catch(() => undefined)
      .finally(() => this.#reading.delete(key));
    this.#reading.set(key, reading);
    return reading;
  }
}

function isUnknown({ at }: ListState): boolean {
  return at === undefined;
}

function listOf(name: ListName, view: View): Promise<unknown> {
  switch (name) {
    case "tools":
      return view.tools();
    case "resources":
      return view.resources();
    case "resourceTemplates":
      return view.resourceTemplates();
    case "prompts":
      return view.prompts();
  }
}
