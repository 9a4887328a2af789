import type { LogLevel } from "../events.ts";
import type { Connection } from "./connection.ts";
import { takesSandboxState } from "./sandbox-state.ts";
import type { Session } from "./session.ts";

const answerMs = 10_000;
/** How many callers may have a sandbox state of their own; beyond that the one that was set first is forgotten. */
const maxCallers = 1_000;

interface CallerState {
  state: Record<string, unknown>;
  /** The servers that may hear it. */
  isMeant(server: string): boolean;
}

/** What every server is told as soon as it can be: now, and whenever it connects. */
export class Announcements {
  readonly #connections: () => Connection[];
  readonly #levels = new WeakMap<Session, { told?: LogLevel; isTelling: boolean }>();
  #level: LogLevel | undefined;
  #sandboxState: Record<string, unknown> | undefined;
  readonly #callers = new Map<string, CallerState>();

  constructor(connections: () => Connection[]) {
    this.#connections = connections;
  }

  connected(connection: Connection): void {
    void this.#tellSandboxState(connection);
    void this.#tellLevel(connection);
  }

  /** True if a server that takes the sandbox state has to tell this caller from others. */
  hasOwnState(caller: string, server: string): boolean {
    return this.#callers.get(caller)?.isMeant(server) === true;
  }

  async setSandboxState(state: Record<string, unknown> | undefined): Promise<void> {
    this.#sandboxState = state;
    await Promise.all(this.#connections().map((one) => this.#tellSandboxState(one)));
  }

  /** The same for one caller, whose servers tell it from others from then on; `undefined` forgets it. */
  async setCallerState(caller: string, own: CallerState | undefined): Promise<void> {
    this.#callers.delete(caller);
    if (!own) return;
    this.#callers.set(caller, own);
    for (const oldest of this.#callers.keys()) {
      if (this.#callers.size <= maxCallers) break;
      this.#callers.delete(oldest);
    }
    const theirs = this.#connections().filter((one) => one.caller === caller);
    await Promise.all(theirs.map((one) => this.#tellSandboxState(one)));
  }

  async setLogLevel(level: LogLevel | undefined): Promise<void> {
    this.#level = level;
    await Promise.all(this.#connections().map((one) => this.#tellLevel(one)));
  }

  /** Only servers that declared the capability are told; whether they listen is their business. */
  async #tellSandboxState({ session, name, caller }: Connection): Promise<void> {
    const own = caller === undefined ? undefined : this.#callers.get(caller);
    const state = own?.isMeant(name) ? own.state : this.#sandboxState;
    if (!session || !state || !takesSandboxState(session.greeting.capabilities)) return;
    await session.notify("codex/sandbox-state/update", state).catch(() => undefined);
  }

  /** One request at a time for each session, so that the last level is the one that counts. */
  async #tellLevel({ session }: Connection): Promise<void> {
    if (session?.greeting.era !== "legacy" || !session.greeting.capabilities["logging"]) return;
    const known = this.#levels.get(session) ?? { isTelling: false };
    this.#levels.set(session, known);
    if (known.isTelling) return;
    known.isTelling = true;
    while (this.#level !== undefined && known.told !== this.#level && !session.lost) {
      known.told = this.#level;
      const limits = { timeoutMs: answerMs, maxTimeoutMs: answerMs };
      // A server that refuses logs as it likes.
      await session.request("logging/setLevel", { level: known.told }, limits).catch(() => undefined);
    }
    known.isTelling = false;
  }
}
