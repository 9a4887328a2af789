import { isPlugboardError } from "../../errors.ts";
import { parseChallenge } from "../challenge.ts";
import type { Challenge } from "../challenge.ts";
import type { ServerAuth, Unauthorized } from "../server-auth.ts";
import { DpopProofs } from "./dpop-proof.ts";
import { shown } from "./errors.ts";
import { readResourceMetadata } from "./resource.ts";
import { hasExpired, isDue } from "./record.ts";
import type { Login } from "./record.ts";
import { explainTime, explainToken } from "./token-claims.ts";
import { readLogin, renewLogin, requiresLogin } from "./token-refresh.ts";
import type { RefreshSettings } from "./token-refresh.ts";
import { bearer } from "./tokens.ts";

/** For this long after a renewal, a refusal may still be about a request that was sent with the old token. */
const lateRefusalMs = 5_000;

/**
 * Supplies a transport with the stored login of one server. Renews the token before it expires and when the server
 * refuses it. Never opens a browser: without a login, it throws an error that names the command to run.
 */
export class LoginProvider implements ServerAuth {
  readonly isLogin = true;
  #settings: RefreshSettings & { url: URL };
  #login: Login | undefined;
  #isRead = false;
  #version = 0;
  #renewing: Promise<Login> | undefined;
  #renewedAt = -Infinity;
  #proofs: DpopProofs | undefined;
  #challenge: Challenge | undefined;
  #theirTime: string | undefined;

  constructor(settings: RefreshSettings & { url: URL }) {
    this.#settings = settings;
  }

  /** The login in use. */
  get login(): Login | undefined {
    return this.#login;
  }

  /** Changes whenever the access token changes. */
  get version(): number {
    return this.#version;
  }

  secrets(): string[] {
    const { tokens, client } = this.#login ?? {};
    const { clientSecret, privateKey, assertion, identityProvider } = this.#settings.oauth;
    const all = [
      tokens?.access_token,
      tokens?.refresh_token,
      client?.client_secret,
      this.#login?.dpop?.d,
      clientSecret,
      privateKey,
      assertion,
      identityProvider?.clientSecret,
    ];
    return all.filter((secret) => secret !== undefined);
  }

  /** True if the stored login differs from the one in use, because this or another process stored a new one. */
  async hasNewLogin(): Promise<boolean> {
    const kept = await readLogin(this.#settings);
    return kept !== undefined && !kept.ended && kept.tokens.access_token !== this.#login?.tokens.access_token;
  }

  async token(): Promise<string | undefined> {
    const { now } = this.#settings;
    if (!this.#isRead) await this.#read();
    const login = this.#login;
    if (!login) return undefined;
    if (!isDue(login, now()) || login.ended || !this.#canRenew(login)) return login.tokens.access_token;
    try {
      return (await this.#renew(undefined)).tokens.access_token;
    } catch (error) {
      // The token is still valid for a while, and the authorization server may be available again by then.
      if (isPlugboardError(error, "auth-required") || hasExpired(login, now())) throw error;
      return login.tokens.access_token;
    }
  }

  async renew({ challenge, date }: Unauthorized): Promise<void> {
    const { now } = this.#settings;
    const refused = this.#login?.tokens.access_token;
    if (this.#renewing) return void (await this.#renewing);
    if (now() - this.#renewedAt < lateRefusalMs) return;
    this.#challenge = parseChallenge(challenge);
    this.#theirTime = date;
    await this.#read();
    if (!this.#login && this.#settings.oauth.grant === undefined) {
      const { missingLogin } = await import("./missing-login.ts");
      throw await missingLogin(this.#settings, this.#challenge);
    }
    if (!this.#login) return void (await this.#renew(refused));
    // An automatic login checks this itself before it sends anything.
    const isPerson = this.#settings.oauth.grant === undefined;
    if (refused !== undefined && isPerson) await this.#assertSameIssuer(this.#login, this.#challenge);
    if (this.#login.tokens.access_token === refused || isDue(this.#login, now())) await this.#renew(refused);
  }

  /** Explains why a new login may have been refused. */
  explainRefusal(): string | undefined {
    const { url, now } = this.#settings;
    const token = this.#login?.tokens.access_token;
    if (token === undefined) return undefined;
    return explainToken(token, url, now()) ?? explainTime(this.#theirTime, now());
  }

  /** The challenge of the last refused request. */
  get challenge(): Challenge | undefined {
    return this.#challenge;
  }

  /** Reads the stored login again and uses it from now on. */
  async reread(): Promise<void> {
    await this.#read();
  }

  /** The token and, if the login is bound to a key, a proof for this request. */
  async headers({ method, url }: { method: string; url: URL }): Promise<Record<string, string>> {
    const token = await this.token();
    if (token === undefined) return {};
    const authorization = bearer(this.#settings.server, token);
    const proofs = this.#dpopProofs();
    if (!proofs) return { authorization };
    return {
      authorization: authorization.replace("Bearer", "DPoP"),
      dpop: proofs.make(method, url, token),
    };
  }

  useNonce(nonce: string, url: URL): void {
    this.#dpopProofs()?.useNonce(nonce, url);
  }

  /** Kept as long as the key stays the same, so that the nonces survive a token renewal. */
  #dpopProofs(): DpopProofs | undefined {
    const key = this.#login?.dpop;
    if (!key) return undefined;
    if (this.#proofs?.key.d !== key.d) this.#proofs = new DpopProofs(key);
    return this.#proofs;
  }

  #canRenew({ tokens }: Login): boolean {
    return tokens.refresh_token !== undefined || this.#settings.oauth.grant !== undefined;
  }

  async #read(): Promise<void> {
    this.#use(await readLogin(this.#settings));
    this.#isRead = true;
  }

  #use(login: Login | undefined): void {
    if (login?.tokens.access_token !== this.#login?.tokens.access_token) this.#version++;
    this.#login = login;
  }

  #renew(refused: string | undefined): Promise<Login> {
    this.#renewing ??= renewLogin(this.#settings, refused, this.#challenge)
      .then((login) => {
        this.#use(login);
        // A workload's new token may be for another subject, whose login is stored under another key.
        this.#settings = { ...this.#settings, key: { ...this.#settings.key, machine: login.machine } };
        this.#renewedAt = this.#settings.now();
        return login;
      })
      .finally(() => (this.#renewing = undefined));
    return this.#renewing;
  }

  /** A server that has moved to another authorization server must not get tokens from the old one. */
  async #assertSameIssuer(login: Login, { resourceMetadataUrl }: Challenge): Promise<void> {
    const { server, url, oauth, withFetch } = this.#settings;
    const about = await withFetch((fetch) =>
      readResourceMetadata({ server, url, resource: oauth.resource, fetch }, resourceMetadataUrl),
    ).catch(() => undefined);
    if (!about || about.servers.length === 0 || oauth.issuer !== undefined) return;
    const bare = (issuer: string) => issuer.replace(/\/$/, "");
    if (about.servers.some((one) => bare(one) === bare(login.issuer))) return;
    const where = `from ${shown(login.issuer)} to ${shown(about.servers[0] ?? "")}`;
    throw requiresLogin(this.#settings, `"${server}" has moved its login ${where}.`);
  }
}
