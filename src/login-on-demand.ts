import type { Account } from "./auth/account.ts";
import type { LoginOptions } from "./auth/login.ts";
import { isPlugboardError } from "./errors.ts";
import type { Interact } from "./interact/interact.ts";

export interface LoginOnDemandSettings {
  interact: Interact;
  /** Whether a server's logins need no person. */
  isMachine(server: string): boolean;
  /** The account that is used where nobody chose one. */
  profileOf(server: string): string;
  logIn(server: string, options: LoginOptions): Promise<Account>;
}

/** Who asks, and until when. */
export interface Demand {
  profile?: string | undefined;
  signal?: AbortSignal | undefined;
}

interface Need {
  server: string;
  /** What the login lacks; empty when there is none. */
  scopes: string[];
  because: string;
}

/** No request is worth more: a server that still wants another login then will never have enough. */
const mostLogins = 3;
const never = new AbortController().signal;

/** What fails for want of a login, or of rights, is done again after somebody has logged in. */
export class LoginOnDemand {
  readonly #settings: LoginOnDemandSettings;
  /** Several calls wait for one login. */
  readonly #underWay = new Map<string, Promise<Account | undefined>>();

  constructor(settings: LoginOnDemandSettings) {
    this.#settings = settings;
  }

  async run<T>(demand: Demand, work: () => Promise<T>): Promise<T> {
    let granted: readonly string[] | undefined;
    for (let logins = 0; ; logins++) {
      try {
        return await work();
      } catch (error) {
        const need = needOf(error);
        if (!need || logins >= mostLogins || demand.signal?.aborted) throw error;
        // It has just been given what it asks for.
        if (granted && need.scopes.every((scope) => granted?.includes(scope))) throw error;
        const account = await this.#share(need, demand);
        if (!account) throw error;
        granted = account.scopes;
      }
    }
  }

  #share(need: Need, demand: Demand): Promise<Account | undefined> {
    const key = JSON.stringify([need.server, demand.profile, need.scopes]);
    const known = this.#underWay.get(key);
    if (known) return known;
    const login = this.#logIn(need, demand).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, login);
    return login;
  }

  async #logIn({ server, scopes, because }: Need, demand: Demand): Promise<Account | undefined> {
    const { interact, isMachine, profileOf, logIn } = this.#settings;
    const { signal = never } = demand;
    const more = scopes.length > 0 ? scopes.map((scope) => `+${scope}`) : undefined;
    const asked = { profile: demand.profile, scopes: more, signal };
    if (isMachine(server)) return more && logIn(server, asked);
    const profile = demand.profile ?? profileOf(server);
    const question = { kind: "log-in", id: crypto.randomUUID(), server, profile, scopes, because } as const;
    const ways = await interact.logIn?.(question, signal);
    return ways && logIn(server, { ...asked, ...ways });
  }
}

function needOf(error: unknown): Need | undefined {
  if (!isPlugboardError(error) || error.server === undefined) return undefined;
  const { code, server, message: because, data } = error;
  if (code === "auth-required") return { server, scopes: [], because };
  if (data?.["reason"] !== "insufficient-scope" || !Array.isArray(data["scopes"])) return undefined;
  return { server, scopes: data["scopes"] as string[], because };
}
