import type { Account } from "../auth/oauth/account.ts";
import type { LoginOptions } from "../auth/oauth/login/login.ts";
import { authFailed, loginCommand, shown } from "../auth/oauth/errors.ts";
import { defaultProfile } from "../auth/oauth/record.ts";
import { isPlugboardError } from "../errors.ts";
import type { PlugboardError } from "../errors.ts";
import type { Questions } from "../interact/questions.ts";
import { abortable } from "../lib/abortable.ts";
import type { ConnectionKey, Use } from "../servers/connection-key.ts";
import type { ServerSet } from "../servers/server-set.ts";
import type { SignIn } from "./sign-in.ts";

export interface LoginOnDemandSettings {
  questions: Questions;
  servers: Pick<
    ServerSet,
    "key" | "entry" | "chosenAccount" | "withTarget" | "takeLogin" | "reconnectAccount"
  >;
  signIn: Pick<SignIn, "account" | "canLogIn" | "login">;
  now(): number;
}

/** Who made the request, and the signal that ends it. */
export interface Demand {
  use: Use;
  signal?: AbortSignal | undefined;
}

interface Need {
  server: string;
  key: ConnectionKey;
  profile: string;
  /** The scopes that the login lacks; empty if there is no login. */
  scopes: string[];
  because: string;
  /** The number of logins before the request was sent. */
  begun: number;
}

/** One login that several calls wait for. It is cancelled when the last of them gives up. */
interface SharedLogin {
  account: Promise<Granted | undefined>;
  stop: AbortController;
  waiting: number;
}

type Granted = Pick<Account, "scopes">;

/** A login that was declined or impossible. It is not asked for again for a while. */
interface Refusal {
  server: string;
  until: number;
  /** The error of an automatic login. */
  error?: PlugboardError;
}

const refusalMs = 60_000;

/** The limit for one request: a server that asks for more logins than this will never be satisfied. */
const maxLogins = 3;

/** Retries a request after the missing login, or after a login with the missing scopes. */
export class LoginOnDemand {
  readonly #settings: LoginOnDemandSettings;
  readonly #underWay = new Map<string, SharedLogin>();
  /** The latest login of each account, running or finished. They run in turn, because each adds to earlier scopes. */
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
        if (!found || logins >= maxLogins || demand.signal?.aborted || closing.aborted) throw error;
        const { servers, signIn } = this.#settings;
        const key = servers.key(found.server, demand.use);
        if (!signIn.canLogIn(found.server, servers.chosenAccount(key))) throw error;
        const need = { ...found, key, profile: key.account ?? defaultProfile, begun };
        // The server asks again for scopes that it was just granted or will never be granted.
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

  /**
   * Every login goes through here, explicit or on demand. `keep`: connections and running calls continue with the new
   * scopes. `disconnect`: the account may have changed, so the next use reconnects.
   */
  async login(key: ConnectionKey, options: LoginOptions, connected: "keep" | "disconnect"): Promise<Account> {
    const { servers, signIn } = this.#settings;
    const { server } = key;
    const chosen = { ...options, profile: servers.chosenAccount(key) };
    const account = await servers.withTarget(key, (target) => signIn.login(server, target, chosen));
    // An explicit login clears earlier refusals.
    for (const [need, refusal] of this.#refusals) if (refusal.server === server) this.#refusals.delete(need);
    await (connected === "keep" ? servers.takeLogin(key) : servers.reconnectAccount(key));
    return account;
  }

  /** Cancels the open login questions and the requests that wait for them. */
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

  #begin(need: Need, { use }: Demand): SharedLogin {
    const who = JSON.stringify([need.server, need.profile]);
    const stop = new AbortController();
    const account = (this.#turns.get(who) ?? Promise.resolve()).then(async () => {
      const newest = this.#newest.get(who);
      const isAnswered = newest && need.scopes.every((scope) => newest.scopes.includes(scope));
      if (isAnswered && newest.number > need.begun) return newest;
      if (stop.signal.aborted) return undefined;
      const made = await this.#logIn(need, use, stop.signal);
      if (!made) return undefined;
      this.#newest.set(who, { number: ++this.#logins, scopes: made.scopes });
      return made;
    });
    this.#turns.set(
      who,
      account.catch(() => undefined),
    );
    return { account, stop, waiting: 0 };
  }

  /** True if the server's logins need no person. */
  isMachine(server: string): boolean {
    return this.#settings.servers.entry(server).config?.oauth?.grant !== undefined;
  }

  async #logIn(need: Need, use: Use, signal: AbortSignal): Promise<Account | undefined> {
    const { servers, signIn } = this.#settings;
    const { server, key, scopes } = need;
    const more = scopes.length > 0 ? scopes.map((scope) => `+${scope}`) : undefined;
    const asked = { scopes: more, signal };
    if (this.isMachine(server)) {
      return (
        more &&
        this.login(key, asked, "keep").catch((error: unknown) => {
          if (isPlugboardError(error, "auth-failed")) this.#refuse(need, error);
          throw error;
        })
      );
    }
    const before = signIn.account(server, servers.chosenAccount(key));
    const ways = await this.#ask(need, use, before, signal);
    if (!ways) return undefined;
    const account = await this.login(key, { ...asked, ...ways }, "keep");
    if (before?.user === undefined || account.user === undefined || before.user === account.user)
      return account;
    await servers.reconnectAccount(key);
    throw accountChanged(need, before.user, account.user);
  }

  async #ask(need: Need, { interact, caller }: Use, before: Account | undefined, signal: AbortSignal) {
    if (!interact?.logIn) return undefined;
    const { server, key, profile, because } = need;
    const scopes = need.scopes.filter((scope) => !before?.scopes.includes(scope));
    const id = crypto.randomUUID();
    const ways = await this.#settings.questions.ask(
      { kind: "log-in", id, server, profile, scopes, because },
      { server, caller, account: key.account },
      interact.logIn.bind(interact),
      signal,
      (answer) => ({ outcome: answer ? "accepted" : "declined" }),
    );
    if (!ways && !signal.aborted) this.#refuse(need);
    return ways;
  }
}

function keyOf({ server, profile, scopes }: Need): string {
  return JSON.stringify([server, profile, scopes.toSorted()]);
}

/** A request that was started as one account must not be repeated as another. */
function accountChanged({ server, profile }: Need, before: string, after: string): PlugboardError {
  const [old, fresh] = [shown(before), shown(after)];
  const message = `The new login to "${server}" is for ${fresh}, but the request was made as ${old}, so it was not repeated.`;
  const command = loginCommand(server, profile === defaultProfile ? undefined : profile);
  const hint = `The new login is kept. Repeat the request to make it as ${fresh}, or log in as ${old} first: \`${command}\`.`;
  return authFailed(server, message, { data: { reason: "other-account", before: old, after: fresh }, hint });
}

function needOf(error: unknown): Pick<Need, "server" | "scopes" | "because"> | undefined {
  if (!isPlugboardError(error) || error.server === undefined) return undefined;
  const { code, server, message: because, missingScopes } = error;
  if (code === "auth-required") return { server, scopes: [], because };
  return missingScopes && { server, scopes: [...missingScopes], because };
}
