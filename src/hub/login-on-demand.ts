import type { Account } from "../auth/oauth/account.ts";
import type { LoginOptions } from "../auth/oauth/login.ts";
import { authFailed, shown } from "../auth/oauth/errors.ts";
import { defaultProfile } from "../auth/oauth/record.ts";
import { isPlugboardError } from "../errors.ts";
import type { PlugboardError } from "../errors.ts";
import type { Interact } from "../interact/interact.ts";
import { abortable } from "../servers/abortable.ts";

export interface LoginOnDemandSettings {
  interact: Interact;
  /** Whether a server's logins need no person. */
  isMachine(server: string): boolean;
  /** The account that is used where nobody chose one. */
  profileOf(server: string): string;
  /** The login that is used now. */
  accountOf(server: string, profile: string | undefined): Account | undefined;
  logIn(server: string, options: LoginOptions): Promise<Account>;
  /** Ends the connections as an account, because it is somebody else's by now. */
  disconnect(server: string, profile: string | undefined): Promise<void>;
  now(): number;
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

/** Nobody wanted to log in, or could: the same question so soon would get the same answer. */
interface Refusal {
  server: string;
  until: number;
  /** What a login without a person ended with. */
  error?: PlugboardError;
}

const refusalMs = 60_000;

/** No request is worth more: a server that still wants another login then will never have enough. */
const mostLogins = 3;

/** What fails for want of a login, or of rights, is done again after somebody has logged in. */
export class LoginOnDemand {
  readonly #settings: LoginOnDemandSettings;
  readonly #underWay = new Map<string, SharedLogin>();
  /** The last one of each account, under way or over: every login adds to what those before it got. */
  readonly #turns = new Map<string, Promise<unknown>>();
  readonly #newest = new Map<string, Granted & { number: number }>();
  readonly #refusals = new Map<string, Refusal>();
  readonly #closing = new AbortController();
  #logins = 0;

  constructor(settings: LoginOnDemandSettings) {
    this.#settings = settings;
  }

  async run<T>(demand: Demand, work: () => Promise<T>): Promise<T> {
    const closing = this.#closing.signal;
    let asked: string[] | undefined;
    for (let logins = 0; ; logins++) {
      const begun = this.#logins;
      try {
        return await work();
      } catch (error) {
        const found = needOf(error);
        if (!found || logins >= mostLogins || demand.signal?.aborted || closing.aborted) throw error;
        const need = { ...found, profile: demand.profile ?? this.#settings.profileOf(found.server), begun };
        // It has just been given what it asks for, or will never be.
        if (asked && found.scopes.every((scope) => asked?.includes(scope))) {
          this.#refuse(need);
          throw error;
        }
        const refusal = this.#refusals.get(keyOf(need));
        if (refusal && this.#settings.now() < refusal.until) throw refusal.error ?? error;
        const signal = AbortSignal.any([closing, ...(demand.signal ? [demand.signal] : [])]);
        const account = await this.#share(need, { ...demand, signal });
        if (!account) throw error;
        asked = [...(asked ?? []), ...found.scopes, ...account.scopes];
      }
    }
  }

  /** Somebody has logged in: what was refused before may be wanted now. */
  forgive(server: string): void {
    for (const [key, refusal] of this.#refusals) if (refusal.server === server) this.#refusals.delete(key);
  }

  /** Ends the questions and the waiting for them. */
  close(): void {
    this.#closing.abort();
  }

  #refuse(need: Need, error?: PlugboardError): void {
    const now = this.#settings.now();
    for (const [key, { until }] of this.#refusals) if (until <= now) this.#refusals.delete(key);
    const refusal = { server: need.server, until: now + refusalMs, ...(error && { error }) };
    this.#refusals.set(keyOf(need), refusal);
  }

  async #share(need: Need, demand: Demand): Promise<Granted | undefined> {
    const key = keyOf(need);
    const shared = this.#underWay.get(key) ?? this.#begin(need, demand);
    this.#underWay.set(key, shared);
    shared.waiting++;
    try {
      return await abortable(shared.account, demand.signal, need.server);
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
      if (!made) return undefined;
      this.#newest.set(who, { number: ++this.#logins, scopes: made.scopes });
      this.forgive(need.server);
      return made;
    });
    this.#turns.set(
      who,
      account.catch(() => undefined),
    );
    return { account, stop, waiting: 0 };
  }

  async #logIn(need: Need, chosen: string | undefined, signal: AbortSignal): Promise<Account | undefined> {
    const { isMachine, accountOf, logIn } = this.#settings;
    const { server, scopes } = need;
    const more = scopes.length > 0 ? scopes.map((scope) => `+${scope}`) : undefined;
    const asked = { profile: chosen, scopes: more, signal };
    if (isMachine(server)) {
      return (
        more &&
        logIn(server, asked).catch((error: unknown) => {
          if (isPlugboardError(error, "auth-failed")) this.#refuse(need, error);
          throw error;
        })
      );
    }
    const before = accountOf(server, chosen);
    const ways = await this.#ask(need, before, signal);
    if (!ways) return undefined;
    const account = await logIn(server, { ...asked, ...ways });
    if (before?.user === undefined || account.user === undefined || before.user === account.user)
      return account;
    await this.#settings.disconnect(server, chosen);
    throw otherAccount(need, before.user, account.user);
  }

  async #ask(need: Need, before: Account | undefined, signal: AbortSignal) {
    const { logIn } = this.#settings.interact;
    if (!logIn) return undefined;
    const { server, profile, because } = need;
    const scopes = need.scopes.filter((scope) => !before?.scopes.includes(scope));
    const id = crypto.randomUUID();
    const ways = await logIn({ kind: "log-in", id, server, profile, scopes, because }, signal);
    if (!ways && !signal.aborted) this.#refuse(need);
    return ways;
  }
}

function keyOf({ server, profile, scopes }: Need): string {
  return JSON.stringify([server, profile, scopes.toSorted()]);
}

/** What somebody began is not done in another one's name. */
function otherAccount({ server, profile }: Need, before: string, after: string): PlugboardError {
  const [old, fresh] = [shown(before), shown(after)];
  const message = `The new login to "${server}" is of ${fresh}, and this was begun as ${old}: it was not done again.`;
  const command = `plugboard login ${server}${profile === defaultProfile ? "" : ` --profile ${profile}`}`;
  const hint = `The new login is kept. Repeat this to do it as ${fresh}, or log in as ${old} first: \`${command}\`.`;
  return authFailed(server, message, { data: { reason: "other-account", before: old, after: fresh }, hint });
}

function needOf(error: unknown): Pick<Need, "server" | "scopes" | "because"> | undefined {
  if (!isPlugboardError(error) || error.server === undefined) return undefined;
  const { code, server, message: because, data } = error;
  if (code === "auth-required") return { server, scopes: [], because };
  if (data?.["reason"] !== "insufficient-scope" || !Array.isArray(data["scopes"])) return undefined;
  return { server, scopes: data["scopes"] as string[], because };
}
