import { ALGORITHMS } from "./jwt.ts";
import { type Fields, GRANTS } from "./options.ts";
import type { AuthState } from "./state.ts";

/** RFC 8414, and OpenID Connect Discovery when that is the document asked for. */
export function metadataOf(state: AuthState, kind: "oauth" | "oidc"): Fields {
  const { issuer, options } = state;
  const { pkce = ["S256"], registration = true, clientDocuments = true, dpop = "off", iss = true } = options;
  const metadata: Fields = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    ...(registration !== false && { registration_endpoint: `${issuer}/register` }),
    revocation_endpoint: `${issuer}/revoke`,
    introspection_endpoint: `${issuer}/introspect`,
    userinfo_endpoint: `${issuer}/userinfo`,
    jwks_uri: `${issuer}/jwks`,
    ...(state.grantTypes.includes(GRANTS.device) && {
      device_authorization_endpoint: `${issuer}/device_authorization`,
    }),
    scopes_supported: state.scopes,
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: state.grantTypes,
    token_endpoint_auth_methods_supported: [
      "none",
      "client_secret_basic",
      "client_secret_post",
      "private_key_jwt",
    ],
    token_endpoint_auth_signing_alg_values_supported: ALGORITHMS,
    ...(state.grantTypes.includes(GRANTS.jwt) && {
      authorization_grant_profiles_supported: ["urn:ietf:params:oauth:grant-profile:id-jag"],
    }),
    ...(state.grantTypes.includes(GRANTS.exchange) && {
      identity_chaining_requested_token_types_supported: ["urn:ietf:params:oauth:token-type:id-jag"],
    }),
    ...(pkce.length > 0 && { code_challenge_methods_supported: pkce }),
    ...(iss && { authorization_response_iss_parameter_supported: true }),
    ...(clientDocuments !== false && { client_id_metadata_document_supported: true }),
    ...(dpop !== "off" && { dpop_signing_alg_values_supported: ALGORITHMS }),
    ...(kind === "oidc" && {
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["ES256"],
    }),
  };
  return options.alter?.metadata?.(metadata) ?? metadata;
}

/** Which document a path is for, if that document is served. */
export function documentAt(state: AuthState, pathname: string): "oauth" | "oidc" | undefined {
  const { path = "", discovery = ["oauth", "oidc", "oidc-appended"] } = state.options;
  const places = {
    oauth: `/.well-known/oauth-authorization-server${path}`,
    oidc: `/.well-known/openid-configuration${path}`,
    "oidc-appended": `${path}/.well-known/openid-configuration`,
  };
  const found = discovery.find((name) => places[name] === pathname);
  return found === "oidc-appended" ? "oidc" : found;
}
