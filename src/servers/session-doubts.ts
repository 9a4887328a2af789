import type { PlugboardError } from "../errors.ts";
import { checkSession, eraChanged } from "./check-session.ts";
import type { Check } from "./check-session.ts";
import { wasNotExecuted } from "./connection-errors.ts";
import { eraDoubt } from "./era.ts";
import type { Refused } from "./era.ts";
import type { Session } from "./session.ts";

interface DoubtSettings {
  server: string;
  isCurrent(session: Session): boolean;
  lose(session: Session, error: PlugboardError): void;
}

/** After this many requests in a row without an answer a program is asked whether it is alive. */
const timeoutsUntilDoubt = 3;
const usually: Check = { timeoutMs: 10_000, endsSilent: false };

/** What makes a connection doubt its session: it is asked for a sign of life, and lost if it is of no use any more. */
export class SessionDoubts {
  readonly #settings: DoubtSettings;
  #asking: { session: Session; done: Promise<void> } | undefined;

  constructor(settings: DoubtSettings) {
    this.#settings = settings;
  }

  /** Asks for a sign of life, once at a time. */
  ask(session: Session, check = usually): Promise<void> {
    if (this.#asking?.session === session) return this.#asking.done;
    const { server, isCurrent, lose } = this.#settings;
    const done = checkSession(server, session, check).then((error) => {
      if (this.#asking?.session === session) this.#asking = undefined;
      if (!error || !isCurrent(session)) return;
      if (error.code === "not-responding" || wasNotExecuted(error)) lose(session, error);
    });
    this.#asking = { session, done };
    return done;
  }

  /** A program that answers nothing any more is replaced; what is under way there may still finish. */
  countTimeout(session: Session, timeoutMs: number): void {
    if (++session.timeouts < timeoutsUntilDoubt || session.facts.transport !== "stdio") return;
    void this.ask(session, { timeoutMs, endsSilent: true }).then(() => (session.timeouts = 0));
  }

  /**
   * True if the server did nothing with a request because it is of the other era by now. Then, and whenever it turns
   * out to be of the other era, it is met anew.
   */
  async isOfOtherEra(session: Session, refused: Refused | undefined): Promise<boolean> {
    const doubt = refused && eraDoubt(session.greeting.era, refused);
    if (!doubt || (doubt !== "certain" && session.facts.transport !== "http")) return false;
    const { server, isCurrent, lose } = this.#settings;
    if (doubt === "certain") lose(session, eraChanged(server));
    else await this.ask(session);
    return doubt !== "possible" && !isCurrent(session);
  }
}
