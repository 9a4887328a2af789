import type { WarmPlace } from "../hub/options.ts";
import type { CommandMessage, WarmProcess } from "../servers/warm/messages.ts";
import { allSockets, placeProblem, warmFolder } from "../servers/warm/place.ts";

/** The servers that this user's commands left for the next one. */
export class KeptWarm {
  readonly #folder: string;
  readonly #lock: WarmPlace["lock"];

  readonly #onWarning: ((message: string) => void) | undefined;

  constructor(stateFolder: string, lock: WarmPlace["lock"], onWarning?: (message: string) => void) {
    this.#folder = warmFolder(stateFolder);
    this.#lock = lock;
    this.#onWarning = onWarning;
  }

  /** For `HubOptions.warm`. `program` is the file of the broker's program, `servers/warm/main.js` in the package. */
  place(program: string): WarmPlace {
    return { folder: this.#folder, program, lock: this.#lock };
  }

  /** Those that wait, and those that a command uses right now. Starts nothing. */
  async list(): Promise<WarmProcess[]> {
    return this.#warned({ type: "list" });
  }

  /**
   * Ends those of the named servers, or all, and returns them when they are gone. One that is in use ends with the
   * command that uses it instead. `unanswered` has a sentence for each broker that hangs: what it holds may still run.
   */
  async stop(servers?: readonly string[]): Promise<{ processes: WarmProcess[]; unanswered: string[] }> {
    return this.#ask({ type: "stop", ...(servers && { servers }) });
  }

  /** Ends what was started under rules that no longer hold: of some servers, or what was started with a secret. */
  async forget(which: { servers: readonly string[] } | { secret: string }): Promise<void> {
    await this.#warned({ type: "stop", ...which });
  }

  /** What is wrong with the place: who could interfere, and sockets that nobody listens on. Creates nothing. */
  async problems(): Promise<{ message: string; isStale: boolean }[]> {
    const sockets = await allSockets(this.#folder);
    if (sockets.length === 0) return [];
    const unsafe = placeProblem(this.#folder);
    if (unsafe !== undefined) return [{ message: unsafe, isStale: false }];
    const { connectTo } = await import("../servers/warm/broker-client.ts");
    const states = sockets.map(async (path) => {
      const socket = await connectTo(path).catch(() => "none" as const);
      if (typeof socket !== "string") socket.destroy();
      return socket === "stale" ? [{ message: `nobody listens on ${path} any more`, isStale: true }] : [];
    });
    return (await Promise.all(states)).flat();
  }

  async #warned(question: CommandMessage): Promise<WarmProcess[]> {
    const { processes, unanswered } = await this.#ask(question);
    for (const message of unanswered) this.#onWarning?.(message);
    return processes;
  }

  async #ask(question: CommandMessage): Promise<{ processes: WarmProcess[]; unanswered: string[] }> {
    // Most users have none, and need not load the code to ask them.
    if ((await allSockets(this.#folder)).length === 0) return { processes: [], unanswered: [] };
    const { askBrokers } = await import("../servers/warm/broker-client.ts");
    return askBrokers(this.#folder, question);
  }
}
