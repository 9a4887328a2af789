import type { AuthProvider } from "@modelcontextprotocol/client";
import { isPlugboardError } from "../errors.ts";
import { readResourceMetadata } from "./oauth-resource.ts";
import { hasExpired, isDue } from "./oauth-record.ts";
import type { Login } from "./oauth-record.ts";
import { readLogin, renewLogin, wantsLogin } from "./token-refresh.ts";
import type { RefreshSettings } from "./token-refresh.ts";

/** Answers that were on their way with the old token when it was renewed may still come in for so long. */
const echoMs = 5_000;

/**
 * The stored login of one server, for its transport: a token for every request, renewed before it expires and when it
 * is refused. Opens no browser: without a login it says which command is needed.
 */
export class LoginProvider implements AuthProvider {
  readonly #settings: RefreshSettings & { url: URL };
  #login: Login | undefined;
  #isRead = false;
  #renewing: Promise<Login> | undefined;
  #renewedAt = -Infinity;

  constructor(settings: RefreshSettings & { url: URL }) {
    this.#settings = settings;
  }

  /** What is in use now. */
  get login(): Login | undefined {
    return this.#login;
  }

  secrets(): string[] {
    const { tokens, client } = this.#login ?? {};
    const all = [tokens?.access_token, tokens?.refresh_token, client?.client_secret];
    return all.filter((secret) => secret !== undefined);
  }

  /** True when another one is kept by now, by whichever process. */
  async hasNewLogin(): Promise<boolean> {
    const kept = await readLogin(this.#settings);
    return kept !== undefined && !kept.ended && kept.tokens.access_token !== this.#login?.tokens.access_token;
  }

  async token(): Promise<string | undefined> {
    const { now } = this.#settings;
    if (!this.#isRead) await this.#read();
    const login = this.#login;
    if (!login) return undefined;
    if (!isDue(login, now()) || login.ended || login.tokens.refresh_token === undefined)
      return login.tokens.access_token;
    try {
      return (await this.#renew(undefined)).tokens.access_token;
    } catch (error) {
      // It is still good for a while, and its authorization server may be back by then.
      if (isPlugboardError(error, "auth-required") || hasExpired(login, now())) throw error;
      return login.tokens.access_token;
    }
  }

  async onUnauthorized({ response }: { response: Response }): Promise<void> {
    const { server, now } = this.#settings;
    const refused = this.#login?.tokens.access_token;
    if (this.#renewing) return void (await this.#renewing);
    if (now() - this.#renewedAt < echoMs) return;
    await this.#read();
    if (!this.#login) throw wantsLogin(this.#settings, `"${server}" wants a login (HTTP 401).`);
    if (refused !== undefined) await this.#assertSameIssuer(this.#login, response);
    if (this.#login.tokens.access_token === refused || isDue(this.#login, now())) await this.#renew(refused);
  }

  async #read(): Promise<void> {
    this.#login = await readLogin(this.#settings);
    this.#isRead = true;
  }

  #renew(refused: string | undefined): Promise<Login> {
    this.#renewing ??= renewLogin(this.#settings, refused)
      .then((login) => {
        this.#login = login;
        this.#renewedAt = this.#settings.now();
        return login;
      })
      .finally(() => (this.#renewing = undefined));
    return this.#renewing;
  }

  /** A server that has moved to another authorization server gets nothing that the old one gave. */
  async #assertSameIssuer(login: Login, response: Response): Promise<void> {
    const { server, url, withFetch } = this.#settings;
    const { extractWWWAuthenticateParams } = await import("@modelcontextprotocol/client");
    const { resourceMetadataUrl } = extractWWWAuthenticateParams(response);
    const about = await withFetch((fetch) =>
      readResourceMetadata(server, url, resourceMetadataUrl, fetch),
    ).catch(() => undefined);
    if (!about || about.servers.length === 0 || this.#settings.oauth.issuer !== undefined) return;
    const bare = (issuer: string) => issuer.replace(/\/$/, "");
    if (about.servers.some((one) => bare(one) === bare(login.issuer))) return;
    throw wantsLogin(this.#settings, `"${server}" has moved to another authorization server.`);
  }
}
