import type { Account } from "./auth/account.ts";
import type { LoginOptions } from "./auth/login.ts";
import { isPlugboardError } from "./errors.ts";
import type { Interact } from "./interact/interact.ts";
import { abortable } from "./servers/abortable.ts";

export interface LoginOnDemandSettings {
  interact: Interact;
  /** Whether a server's logins need no person. */
  isMachine(server: string): boolean;
  /** The account that is used where nobody chose one. */
  profileOf(server: string): string;
  /** The rights of the login that is used now. */
  scopesOf(server: string, profile: string | undefined): readonly string[];
  logIn(server: string, options: LoginOptions): Promise<Account>;
}

/** Who asks, and until when. */
export interface Demand {
  profile?: string | undefined;
  signal?: AbortSignal | undefined;
}

interface Need {
  server: string;
  profile: string;
  /** What the login lacks; empty when there is none. */
  scopes: string[];
  because: string;
  /** How many logins there had been when the request was sent. */
  begun: number;
}

/** Several calls wait for one login, which is given up when the last of them has left. */
interface SharedLogin {
  account: Promise<Granted | undefined>;
  stop: AbortController;
  waiting: number;
}

type Granted = Pick<Account, "scopes">;

/** No request is worth more: a server that still wants another login then will never have enough. */
const mostLogins = 3;

/** What fails for want of a login, or of rights, is done again after somebody has logged in. */
export class LoginOnDemand {
  readonly #settings: LoginOnDemandSettings;
  readonly #underWay = new Map<string, SharedLogin>();
  /** The last one of each account, under way or over: every login adds to what those before it got. */
  readonly #turns = new Map<string, Promise<unknown>>();
  readonly #newest = new Map<string, Granted & { number: number }>();
  #logins = 0;

  constructor(settings: LoginOnDemandSettings) {
    this.#settings = settings;
  }

  async run<T>(demand: Demand, work: () => Promise<T>): Promise<T> {
    let granted: readonly string[] | undefined;
    for (let logins = 0; ; logins++) {
      const begun = this.#logins;
      try {
        return await work();
      } catch (error) {
        const found = needOf(error);
        if (!found || logins >= mostLogins || demand.signal?.aborted) throw error;
        // It has just been given what it asks for.
        if (granted && found.scopes.every((scope) => granted?.includes(scope))) throw error;
        const profile = demand.profile ?? this.#settings.profileOf(found.server);
        const account = await this.#share({ ...found, profile, begun }, demand);
        if (!account) throw error;
        granted = account.scopes;
      }
    }
  }

  async #share(need: Need, demand: Demand): Promise<Granted | undefined> {
    const { server, profile, scopes } = need;
    const key = JSON.stringify([server, profile, scopes]);
    const shared = this.#underWay.get(key) ?? this.#begin(need, demand);
    this.#underWay.set(key, shared);
    shared.waiting++;
    try {
      return await abortable(shared.account, demand.signal, server);
    } finally {
      if (--shared.waiting === 0) {
        this.#underWay.delete(key);
        shared.stop.abort();
      }
    }
  }

  #begin(need: Need, { profile: chosen }: Demand): SharedLogin {
    const who = JSON.stringify([need.server, need.profile]);
    const stop = new AbortController();
    const account = (this.#turns.get(who) ?? Promise.resolve()).then(async () => {
      const newest = this.#newest.get(who);
      const isAnswered = newest && need.scopes.every((scope) => newest.scopes.includes(scope));
      if (isAnswered && newest.number > need.begun) return newest;
      if (stop.signal.aborted) return undefined;
      const made = await this.#logIn(need, chosen, stop.signal);
      if (made) this.#newest.set(who, { number: ++this.#logins, scopes: made.scopes });
      return made;
    });
    this.#turns.set(
      who,
      account.catch(() => undefined),
    );
    return { account, stop, waiting: 0 };
  }

  async #logIn(need: Need, chosen: string | undefined, signal: AbortSignal): Promise<Account | undefined> {
    const { interact, isMachine, logIn } = this.#settings;
    const { server, profile, scopes, because } = need;
    const more = scopes.length > 0 ? scopes.map((scope) => `+${scope}`) : undefined;
    const asked = { profile: chosen, scopes: more, signal };
    if (isMachine(server)) return more && logIn(server, asked);
    const has = this.#settings.scopesOf(server, chosen);
    const missing = scopes.filter((scope) => !has.includes(scope));
    const id = crypto.randomUUID();
    const question = { kind: "log-in", id, server, profile, scopes: missing, because } as const;
    const ways = await interact.logIn?.(question, signal);
    return ways && logIn(server, { ...asked, ...ways });
  }
}

function needOf(error: unknown): Pick<Need, "server" | "scopes" | "because"> | undefined {
  if (!isPlugboardError(error) || error.server === undefined) return undefined;
  const { code, server, message: because, data } = error;
  if (code === "auth-required") return { server, scopes: [], because };
  if (data?.["reason"] !== "insufficient-scope" || !Array.isArray(data["scopes"])) return undefined;
  return { server, scopes: data["scopes"] as string[], because };
}
