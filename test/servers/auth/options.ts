import type { Fault } from "./faults.ts";
import type { Jwk } from "./jwt.ts";

export type Fields = Record<string, unknown>;

/** Everything is optional; `{}` is a well-behaved server that asks a person on a page. */
export interface AuthOptions {
  /** The path of the issuer, such as `/tenant`. Fixed at the start. */
  path?: string;
  /** Which discovery documents exist. `oidc-appended` is the one below a path issuer. Default all. */
  discovery?: ("oauth" | "oidc" | "oidc-appended")[];
  /** RFC 7591. `strict` follows OpenID Connect: a loopback redirect needs `application_type: "native"`. Default true. */
  registration?: boolean | "reject" | "strict";
  /** Client-ID metadata documents: fetched, or taken from here by URL. Default true. */
  clientDocuments?: boolean | Record<string, Fields>;
  /** Clients that were registered beforehand. Fixed at the start; later through `clients`. */
  clients?: ClientSettings[];
  /** Who can log in; with more than one the page asks. Default `["ada"]`. */
  users?: string[];
  /** How the page asks who logs in: chosen from a list, or a name that is typed and has to exist. Default `chosen`. */
  userField?: "chosen" | "typed";
  /** Agrees (as `login_hint`, or the first user) or refuses without a page. Default false. */
  autoConsent?: boolean | "deny";
  /** What may be asked for; anything else is `invalid_scope`. Default `read`, `write`, `admin`. */
  scopes?: string[];
  /** Default `["S256"]`; an empty list does without. */
  pkce?: ("S256" | "plain")[];
  /** RFC 8707. `required` wants it in every request, `ignored` makes tokens for everybody. Default `checked`. */
  resourceIndicators?: "checked" | "required" | "ignored";
  /** RFC 9207. Default true. */
  iss?: boolean;
  /** Who gets a refresh token, if its client may use one. Default `always`. */
  refreshTokens?: "always" | "offline_access" | "never";
  /** Whether a refresh token is good for one use, and a second use ends everything it led to. Default true. */
  rotation?: boolean;
  /** Grant types beyond `authorization_code` and `refresh_token`. Default: client credentials and device. */
  grantTypes?: GrantType[];
  /** Whose JWTs the `jwt-bearer` and `token-exchange` grants believe: keys by issuer. Default nobody's. */
  trusted?: Record<string, Jwk[]>;
  /** Whether the `jwt-bearer` grant takes an assertion more than once, until it ends. Default `reusable`. */
  assertions?: "reusable" | "once";
  /**
   * Cross-app access: the authorization servers that the `token-exchange` grant gives an ID-JAG for, and what each
   * client is called there. Default: for all of them, under the same name.
   */
  crossApp?: Record<string, Record<string, string>>;
  /** RFC 9449. `nonce` is `required`, with a nonce that the server gives. Default `off`. */
  dpop?: "off" | "supported" | "required" | "nonce";
  /** How long things last. Defaults: an hour, 30 days, a minute, an hour, five minutes, ten minutes. */
  accessTokenMs?: number;
  refreshTokenMs?: number;
  codeMs?: number;
  idTokenMs?: number;
  idJagMs?: number;
  deviceMs?: number;
  /** How often a device may ask. Default five seconds, as in RFC 8628. */
  deviceIntervalMs?: number;
  /** What time it is, in milliseconds. Signatures of clients are judged by the real time. */
  clock?: () => number;
  /** Makes the secrets that are given out. Default random. */
  createToken?: (kind: "access" | "refresh" | "code") => string;
  /** What goes wrong, by endpoint. */
  faults?: Partial<Record<Endpoint, Fault>>;
  /** The last word on what is said. */
  alter?: {
    metadata?: (metadata: Fields) => Fields;
    registration?: (client: Fields) => Fields;
    /** The parameters of the redirect back to the client. */
    authorization?: (response: URLSearchParams) => URLSearchParams;
    token?: (response: Fields) => Fields;
  };
}

export type Endpoint =
  | "metadata"
  | "register"
  | "authorize"
  | "consent"
  | "token"
  | "device-authorization"
  | "device"
  | "revoke"
  | "introspect"
  | "userinfo"
  | "jwks";

export const GRANTS = {
  code: "authorization_code",
  refresh: "refresh_token",
  client: "client_credentials",
  device: "urn:ietf:params:oauth:grant-type:device_code",
  jwt: "urn:ietf:params:oauth:grant-type:jwt-bearer",
  exchange: "urn:ietf:params:oauth:grant-type:token-exchange",
} as const;

export type GrantType = (typeof GRANTS)[keyof typeof GRANTS];

export type ClientAuthentication = "none" | "client_secret_basic" | "client_secret_post" | "private_key_jwt";

/** A client as it is registered, in the words of RFC 7591. */
export interface ClientSettings {
  client_id: string;
  client_secret?: string;
  client_name?: string;
  redirect_uris?: string[];
  /** Default: every grant that the server knows. */
  grant_types?: string[];
  /** Default: `client_secret_basic` with a secret, `private_key_jwt` with keys, otherwise `none`. */
  token_endpoint_auth_method?: ClientAuthentication;
  jwks?: { keys: Jwk[] };
}
