import { type FakeHttp, type Script, startFakeHttp } from "../fake/index.ts";
import type { AuthServer } from "./auth-server.ts";
import { createBearerCheck, type Requirements } from "./bearer-check.ts";
import type { ChallengeStyle } from "./challenges.ts";
import { DpopProofs } from "./dpop.ts";
import { type Fault, Faults } from "./faults.ts";
import { ALGORITHMS } from "./jwt.ts";
import { type AuthReceived, type Exchange, json, listen } from "./listener.ts";
import type { Fields } from "./options.ts";
import { forward } from "./proxy.ts";

export interface ProtectedOptions {
  /** Its identifier, and the audience of the tokens it takes. Default its `url`. */
  resource?: string;
  /** Takes tokens for another audience instead, or with `false` for any. */
  audience?: string | false;
  /** Where RFC 9728 metadata is: with the path inserted, at the root, or where only the challenge tells. Default both. */
  metadataAt?: ("path" | "root" | "elsewhere")[];
  /** The last word on the metadata. */
  metadata?: (metadata: Fields) => Fields;
  /** Default: the issuer of the authorization server. */
  authorizationServers?: string[];
  scopesSupported?: string[];
  /** Which scopes are needed, for everything and for some of it. */
  requires?: Requirements;
  /** Whether a 401 names the scopes that are needed for everything. Default true. */
  challengeScope?: boolean;
  challengeStyle?: ChallengeStyle;
  /** The `resource_metadata` of the challenge; `false` leaves it out. */
  challengeMetadata?: string | false;
  /** Takes only tokens that are bound to a key (RFC 9449); `nonce` wants its nonce in every proof. */
  dpop?: "required" | "nonce";
  faults?: { "resource-metadata"?: Fault; mcp?: Fault };
}

export interface ProtectedMcp extends AsyncDisposable {
  /** Streamable HTTP, both eras. */
  readonly url: string;
  readonly sseUrl: string;
  /** Every request, those that were turned away among them. */
  readonly received: AuthReceived[];
  readonly errors: unknown[];
  /** The MCP server behind the check. */
  readonly mcp: FakeHttp;
  /** Changes options from now on; what is not given stays. */
  set(change: ProtectedOptions): void;
  /** With `dpop: "nonce"`: from now on another nonce is wanted. */
  rotateNonce(): void;
  close(): Promise<void>;
}

const PREFIX = "/.well-known/oauth-protected-resource";
const PLACES = { path: `${PREFIX}/mcp`, root: PREFIX, elsewhere: "/about/authorization.json" };

/** A fake MCP server that wants a token of the authorization server. */
export async function startProtectedMcp(
  auth: Pick<AuthServer, "introspect" | "issuer" | "resources">,
  script: Script = {},
  options: ProtectedOptions = {},
): Promise<ProtectedMcp> {
  let now = options;
  const mcp = await startFakeHttp(script);
  const behind = new URL(mcp.url).origin;
  const faults = new Faults();
  const places = (): ("path" | "root" | "elsewhere")[] => now.metadataAt ?? ["path", "root"];
  const isMetadata = (url: URL): boolean => places().some((place) => PLACES[place] === url.pathname);
  const endpointOf = (url: URL): "mcp" | "resource-metadata" =>
    isMetadata(url) ? "resource-metadata" : "mcp";
  const resource = (): string => now.resource ?? `${listener.origin}/mcp`;

  const proofs = new DpopProofs();
  const refusal = createBearerCheck(auth, proofs, () => {
    const [place = "path"] = places();
    const metadataUrl = now.challengeMetadata ?? `${listener.origin}${PLACES[place]}`;
    return { ...now, origin: listener.origin, audience: now.audience ?? resource(), metadataUrl };
  });

  const listener = await listen({
    endpointOf,
    answer: (exchange: Exchange) =>
      faults.apply(now.faults?.[endpointOf(exchange.url)], exchange, async () => {
        if (isMetadata(exchange.url)) return json(200, describe());
        if (exchange.url.pathname.startsWith("/.well-known/")) return { status: 404 };
        return (
          refusal(exchange.received) ??
          forward(exchange, behind, now.dpop === "nonce" ? proofs.nonceHeader() : {})
        );
      }),
  });
  auth.resources.add(resource());

  function describe(): Fields {
    const metadata = {
      resource: resource(),
      authorization_servers: now.authorizationServers ?? [auth.issuer],
      bearer_methods_supported: ["header"],
      ...(now.scopesSupported && { scopes_supported: now.scopesSupported }),
      ...(now.dpop && {
        dpop_bound_access_tokens_required: true,
        dpop_signing_alg_values_supported: ALGORITHMS,
      }),
    };
    return now.metadata?.(metadata) ?? metadata;
  }

  const close = async (): Promise<void> => {
    await listener.close();
    await mcp.close();
  };
  return {
    url: `${listener.origin}/mcp`,
    sseUrl: `${listener.origin}/sse`,
    received: listener.received,
    errors: listener.errors,
    mcp,
    set: (change) => {
      now = { ...now, ...change };
      auth.resources.add(resource());
    },
    rotateNonce: () => proofs.rotateNonce(),
    close,
    [Symbol.asyncDispose]: close,
  };
}
