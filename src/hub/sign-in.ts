import type { FetchLike } from "@modelcontextprotocol/client";
import { describeLogin } from "../auth/oauth/account.ts";
import type { Account } from "../auth/oauth/account.ts";
import type { Credentials } from "../auth/credentials.ts";
import { HelperHeaders } from "../auth/header-command.ts";
import type { Unauthorized } from "../auth/server-auth.ts";
import { suppliedAuth } from "../auth/supplied.ts";
import type { SuppliedProvider } from "../auth/supplied.ts";
import type { LoginOptions } from "../auth/oauth/login/login.ts";
import type { LogoutResult } from "../auth/oauth/logout.ts";
import { defaultProfile, loginKey, loginName } from "../auth/oauth/record.ts";
import type { LoginKey } from "../auth/oauth/record.ts";
import { LoginProvider } from "../auth/oauth/provider.ts";
import { findKey, readLogin, requiresLogin } from "../auth/oauth/token-refresh.ts";
import { PlugboardError, isPlugboardError } from "../errors.ts";
import type { Emit, EventOf } from "../events.ts";
import type { Environment } from "../lib/folders.ts";
import type { KeptLogin } from "../servers/connection-settings.ts";
import type { HttpTarget, ServerAuth, Target } from "../servers/target.ts";

export interface SignInSettings {
  credentials: Credentials;
  authProviders: Readonly<Record<string, SuppliedProvider>>;
  env: Environment;
  /** The server's current target, with its values expanded again. */
  target(server: string, signal?: AbortSignal): Promise<Target>;
  now(): number;
  emit: Emit;
}

type LoginTarget = HttpTarget & { credentials: Extract<HttpTarget["credentials"], { kind: "login" }> };

/** Provides credentials for servers, and manages their logins. */
export class SignIn {
  readonly #settings: SignInSettings;
  /** The latest provider for each server and account, for reports. */
  readonly #providers = new Map<string, LoginProvider>();
  readonly #ending = new AbortController();
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(settings: SignInSettings) {
    this.#settings = settings;
  }

  /** `profile` is an explicitly chosen account, instead of the one in the server's entry. */
  provider(server: string, target: HttpTarget, profile?: string): (ServerAuth & KeptLogin) | undefined {
    const { credentials: wanted } = target;
    const key = providerKey(server, profile);
    this.#providers.delete(key);
    if (wanted.kind === "provider") return this.#supplied(server, target, wanted.id);
    if (wanted.kind === "helper") return new HelperHeaders({ ...wanted, server, env: this.#settings.env });
    if (!isLogin(target)) return undefined;
    assertAccount(server, target, profile);
    const { url } = target;
    const settings = { ...this.#common(server, target, profile), url };
    const provider =
      profile === undefined
        ? new LoginProvider(settings)
        : new ChosenLogin(settings, async () => (await this.stored(server, target, {})) !== undefined);
    this.#providers.set(key, provider);
    return provider;
  }

  /** False if the server's last connection used credentials that no login can replace. */
  canLogIn(server: string, profile?: string): boolean {
    return this.#providers.has(providerKey(server, profile));
  }

  /** The login used by a connection. */
  account(server: string, profile?: string): Account | undefined {
    const login = this.#providers.get(providerKey(server, profile))?.login;
    return login && describeLogin(login, this.#settings.now());
  }

  async stored(server: string, target: Target, { profile }: Choice): Promise<Account | undefined> {
    if (!("credentials" in target) || !isLogin(target)) return undefined;
    const login = await readLogin(this.#common(server, target, profile));
    return login && describeLogin(login, this.#settings.now());
  }

  /** Cancels the logins that are in progress. */
  async close(): Promise<void> {
    this.#ending.abort();
    await Promise.allSettled(this.#underWay);
  }

  async login(server: string, target: Target, options: LoginOptions): Promise<Account> {
    const signal = AbortSignal.any([this.#ending.signal, ...(options.signal ? [options.signal] : [])]);
    const login = this.#login(server, target, { ...options, signal });
    this.#underWay.add(login);
    return login.finally(() => this.#underWay.delete(login));
  }

  async #login(server: string, target: Target, options: LoginOptions): Promise<Account> {
    assertLogin(server, target);
    assertAccount(server, target, options.profile);
    const { now } = this.#settings;
    const { withFetch, ...common } = this.#common(server, target, options.profile);
    const { emit } = common;
    const { openUrl } = options;
    const watched = {
      ...options,
      openUrl:
        openUrl &&
        (async (url: URL) => {
          try {
            await openUrl(url);
          } catch (error) {
            // Without its parameters: they belong to this login only.
            const address = `${url.origin}${url.pathname}`;
            emit({ type: "url-open-failed", server, url: address, at: now() });
            throw error;
          }
        }),
    };
    const { logIn } = await import("../auth/oauth/login/login.ts");
    const { challenge } = this.#providers.get(providerKey(server, options.profile)) ?? {};
    const login = await withFetch((fetch) =>
      logIn({ ...common, url: target.url, fetch }, { challenge, ...watched }),
    );
    emit({ type: "auth-changed", server, change: "login", at: now() });
    return describeLogin(login, now());
  }

  async logout(server: string, target: Target, { profile }: Choice): Promise<LogoutResult> {
    assertLogin(server, target);
    const { now } = this.#settings;
    const { logOut } = await import("../auth/oauth/logout.ts");
    const common = this.#common(server, target, profile);
    const result = await logOut({ ...common, key: await findKey(common) });
    // What the connection knew of the login is over, and must not be shown any more.
    await this.#providers.get(providerKey(server, profile))?.reread?.();
    if (result.wasLoggedIn) common.emit({ type: "auth-changed", server, change: "logout", at: now() });
    return result;
  }

  #common(server: string, target: LoginTarget, profile?: string) {
    const { credentials, env, now, emit } = this.#settings;
    const { oauth } = target.credentials;
    const withFetch = async <T>(work: (fetch: FetchLike) => Promise<T>): Promise<T> => {
      const { withAuthFetch } = await import("../servers/auth-fetch.ts");
      return withAuthFetch(server, target, env, work);
    };
    const keyFor = (url: URL, theirs: typeof oauth) =>
      loginKey(url, { ...theirs, profile: profile ?? theirs.profile }, server);
    const key = keyFor(target.url, oauth);
    return {
      server,
      key,
      oauth,
      credentials,
      readConfig: async (signal: AbortSignal) => {
        const current = await this.#settings.target(server, signal);
        if (!("credentials" in current) || !isLogin(current)) return undefined;
        const { oauth: theirs } = current.credentials;
        const found = { oauth: theirs, key: keyFor(current.url, theirs) };
        // The name may now refer to another server, whose secrets must not go to this authorization server.
        return isSameClient(found, { oauth, key }) ? found : undefined;
      },
      withFetch,
      now,
      emit: (event: EventOf<"auth-changed" | "issuer-chosen" | "url-open-failed">) =>
        emit({ ...event, account: key.profile }),
    };
  }

  #supplied(server: string, target: HttpTarget, id: string): ServerAuth {
    const { authProviders, env } = this.#settings;
    const provider = Object.hasOwn(authProviders, id) ? authProviders[id] : undefined;
    const withFetch = async <T>(work: (fetch: FetchLike) => Promise<T>): Promise<T> => {
      const { withHttpFetch } = await import("../servers/auth-fetch.ts");
      return withHttpFetch(server, target, env, work);
    };
    if (provider) return suppliedAuth(provider, { server, id, url: target.url, withFetch });
    const message = `"${server}" needs the credentials "${id}", which this program does not supply.`;
    const hint = "Set `auth` to `oauth` or `none`, or supply them: createHub(config, { authProviders }).";
    throw new PlugboardError("config-invalid", message, { server, hint });
  }
}

/**
 * An account that was chosen by name. If the server has other logins, it never falls back to anonymous access, so a
 * misspelt name is an error even if the server allows anonymous requests.
 */
class ChosenLogin extends LoginProvider {
  readonly #missing: () => PlugboardError;
  readonly #hasOthers: () => Promise<boolean>;
  #isRefused: Promise<boolean> | undefined;

  constructor(settings: ConstructorParameters<typeof LoginProvider>[0], hasOthers: () => Promise<boolean>) {
    super(settings);
    const { server, key } = settings;
    this.#missing = () => requiresLogin(settings, `There is no login "${key.profile}" to "${server}".`);
    this.#hasOthers = hasOthers;
  }

  override async token(): Promise<string | undefined> {
    const token = await super.token();
    if (token === undefined && (await (this.#isRefused ??= this.#hasOthers()))) throw this.#missing();
    return token;
  }

  override async renew(refusal: Unauthorized): Promise<void> {
    try {
      await super.renew(refusal);
    } catch (error) {
      throw this.login || !isPlugboardError(error, "auth-required") ? error : this.#missing();
    }
  }
}

interface Configured {
  oauth: LoginTarget["credentials"]["oauth"];
  key: LoginKey;
}

/** True if both use the same authorization server with the same settings; the account may differ. */
function isSameClient(one: Configured, other: Configured): boolean {
  const [a, b] = [one, other].map(({ oauth: { grant, identityProvider }, key }) =>
    JSON.stringify([grant, identityProvider?.issuer, loginName({ ...key, machine: undefined })]),
  );
  return a === b;
}

function providerKey(server: string, profile: string | undefined): string {
  return profile === undefined ? server : `${server}\0${profile}`;
}

interface Choice {
  /** The account to use instead of the configured one. */
  profile?: string | undefined;
}

function isLogin(target: HttpTarget): target is LoginTarget {
  return target.credentials.kind === "login";
}

/** An automatic login has only the account in its entry, because nobody can log in as someone else. */
function assertAccount(server: string, { credentials: { oauth } }: LoginTarget, profile?: string): void {
  if (oauth.grant === undefined || profile === undefined) return;
  if (profile === (oauth.profile ?? defaultProfile)) return;
  const message = `There is no login "${profile}" to "${server}", which logs in automatically.`;
  const hint = "Leave the profile out, or add a separate server entry for the other account.";
  throw new PlugboardError("auth-required", message, { server, hint });
}

function assertLogin(server: string, target: Target): asserts target is LoginTarget {
  if ("credentials" in target && isLogin(target)) return;
  const why =
    "credentials" in target
      ? "is configured with its own credentials, so it needs no login"
      : "runs on this machine; only remote servers have a login";
  const hint =
    "credentials" in target
      ? "Remove its headers or `auth`, or set `auth` to `oauth`, to log in instead."
      : "Run `plugboard list` to see which servers are remote.";
  throw new PlugboardError("usage-invalid", `"${server}" ${why}.`, { server, hint });
}
