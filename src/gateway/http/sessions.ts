import { randomBytes } from "node:crypto";
import { TransientMap } from "../../lib/transient.ts";
import type { Endpoint } from "../endpoint.ts";
import type { ClientRequest } from "../message.ts";
import type { Seal } from "../seal.ts";
import type { Beating, Heartbeat } from "./heartbeat.ts";
import { HttpSession } from "./http-session.ts";
import type { HttpSessionSettings } from "./http-session.ts";
import type { Incoming } from "./incoming.ts";
import { tooMany } from "./refusal.ts";
import type { HttpRefusal } from "./refusal.ts";

export interface SessionsSettings extends Omit<
  HttpSessionSettings,
  "id" | "endpoint" | "caller" | "sent" | "holding"
> {
  seal: Seal;
  heartbeat: Heartbeat;
}

/** All legacy sessions, by the ids that their clients send. */
export class Sessions implements Beating {
  readonly #settings: SessionsSettings;
  readonly #sessions = new TransientMap<HttpSession>(16);
  /** Its place in the heartbeat, while there are sessions. */
  #beat: number | undefined;

  constructor(settings: SessionsSettings) {
    this.#settings = settings;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** A new session for an `initialize` request, or why there is none. Throws -32602 if the request says too little. */
  open(initialize: ClientRequest, { request, endpoint, caller }: Incoming): HttpSession | HttpRefusal {
    const { seal, heartbeat, ledger } = this.#settings;
    let session: HttpSession | undefined;
    const held = {
      isBusy: () => session?.isBusy() === true,
      evict: () => session && this.end(session),
    };
    // What the client says about itself is kept for as long as its session.
    const holding = ledger.hold(caller, "sessions", held, initialize.params.heldBytes);
    if (!holding) return this.#refusal(caller);
    try {
      const id = seal.close("session", caller, randomBytes(16).toString("base64url"));
      const sent = endpoint.sent((name) => request.header(name));
      session = new HttpSession(initialize, { ...this.#settings, id, endpoint, caller, sent, holding });
      this.#sessions.add(id, session);
      this.#beat ??= heartbeat.add(this);
      return session;
    } catch (error) {
      holding.release();
      throw error;
    }
  }

  #refusal(caller: string): HttpRefusal {
    const { ledger, limits } = this.#settings;
    return ledger.held("sessions", caller).count < limits.sessionsPerCaller
      ? tooMany(503, "Too many sessions are in use. Try again later.")
      : tooMany(429, "You have too many sessions in use. End some, or close their streams.");
  }

  /** Only its own caller finds a session, and only where it was opened. */
  find(id: string, endpoint: Endpoint, caller: string): HttpSession | undefined {
    const session = this.#sessions.get(id);
    return session?.client.caller === caller && session.client.endpoint === endpoint ? session : undefined;
  }

  end(session: HttpSession): void {
    if (!this.#sessions.delete(session.id)) return;
    const { heartbeat } = this.#settings;
    session.holding.release();
    if (this.#sessions.size === 0 && this.#beat !== undefined) {
      heartbeat.remove(this.#beat);
      this.#beat = undefined;
    }
    session.close();
  }

  endListening(): void {
    for (const session of this.#sessions.values()) session.endListening();
  }

  close(): void {
    for (const session of this.#sessions.values()) this.end(session);
  }

  beat(): void {
    for (const session of this.#sessions.values()) {
      if (session.isIdle) this.end(session);
      else session.beat();
    }
  }
}
