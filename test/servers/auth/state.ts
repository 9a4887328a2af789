import { randomBytes } from "node:crypto";
import { DpopProofs } from "./dpop.ts";
import { type AuthOptions, type ClientSettings, type Fields, GRANTS, type GrantType } from "./options.ts";
import { createKey } from "./signing-key.ts";

export interface Client extends ClientSettings {
  redirect_uris: string[];
  grant_types: string[];
  token_endpoint_auth_method: NonNullable<ClientSettings["token_endpoint_auth_method"]>;
  /** `vouched` is a workload that nobody registered. */
  source: "configured" | "registered" | "document" | "vouched";
}

/** What somebody agreed to once; every token belongs to one, and they end together. */
export interface Grant {
  id: string;
  type: GrantType;
  clientId: string;
  /** Nobody, when a client acts for itself. */
  user: string | undefined;
  scopes: string[];
  /** The resource that its tokens are for. */
  audience: string | undefined;
  revoked?: "requested" | "reuse" | "code replay";
}

export interface Token {
  value: string;
  kind: "access" | "refresh";
  grant: Grant;
  scopes: string[];
  expiresMs: number;
  /** A refresh token that was rotated, an access token that was revoked. */
  spent: boolean;
  /** The key it is bound to. */
  thumbprint?: string;
}

/** What a client asks a person for. */
export interface Asked {
  client: Client;
  scopes: string[];
  resource: string | undefined;
}

export interface AuthorizationRequest extends Asked {
  redirectUri: string;
  state: string | undefined;
  challenge: { value: string; method: string } | undefined;
  /** The key that the code is bound to (`dpop_jkt`). */
  thumbprint: string | undefined;
  loginHint: string | undefined;
}

export interface Code {
  request: AuthorizationRequest;
  grant: Grant;
  expiresMs: number;
  spent: boolean;
}

export interface DeviceRequest extends Asked {
  userCode: string;
  expiresMs: number;
  intervalMs: number;
  lastPollMs: number;
  decision: { user: string } | "denied" | "pending" | "spent";
}

export class AuthState {
  options: AuthOptions;
  origin = "";
  readonly clients = new Map<string, Client>();
  readonly grants: Grant[] = [];
  readonly tokens = new Map<string, Token>();
  readonly codes = new Map<string, Code>();
  /** Authorization requests whose page is open. */
  readonly pages = new Map<string, AuthorizationRequest>();
  readonly devices = new Map<string, DeviceRequest>();
  /** Identifiers of the resources that tokens can be had for; with none, for any. */
  readonly resources = new Set<string>();
  readonly proofs = new DpopProofs();
  readonly stats = {
    registrations: 0,
    documents: 0,
    authorizations: 0,
    tokens: 0,
    refreshes: 0,
    reuses: 0,
    codeReplays: 0,
    revocations: 0,
  };
  /** What it signs with. */
  readonly key = createKey();
  readonly #used = new Set<string>();
  #aheadMs = 0;

  constructor(options: AuthOptions) {
    this.options = options;
  }

  /** Endpoints are below it, too. */
  get issuer(): string {
    return `${this.origin}${this.options.path ?? ""}`;
  }

  get grantTypes(): GrantType[] {
    const { grantTypes = [GRANTS.client, GRANTS.device] } = this.options;
    return [...new Set([GRANTS.code, GRANTS.refresh, ...grantTypes])];
  }

  get scopes(): string[] {
    return this.options.scopes ?? ["read", "write", "admin"];
  }

  get users(): string[] {
    return this.options.users ?? ["ada"];
  }

  /** Whether a page may log somebody in by this name; where names are chosen, any of them will do. */
  admits(user: string | undefined): boolean {
    return this.options.userField !== "typed" || this.users.some((name) => name === user);
  }

  now(): number {
    return (this.options.clock ?? Date.now)() + this.#aheadMs;
  }

  advance(ms: number): void {
    this.#aheadMs += ms;
  }

  /** Whether a JWT with a `jti` is shown for the first time. */
  useOnce({ iss, jti }: Fields): boolean {
    const key = JSON.stringify([iss, jti]);
    if (typeof jti !== "string" || this.#used.has(key)) return false;
    this.#used.add(key);
    return true;
  }

  createToken(kind: "access" | "refresh" | "code"): string {
    return this.options.createToken?.(kind) ?? `${kind}-${secret()}`;
  }

  addGrant(type: GrantType, asked: Asked, user: string | undefined): Grant {
    const { client, scopes, resource: audience } = asked;
    const grant = { id: secret(), type, clientId: client.client_id, user, scopes, audience };
    this.grants.push(grant);
    return grant;
  }
}

export function secret(): string {
  return randomBytes(24).toString("base64url");
}
