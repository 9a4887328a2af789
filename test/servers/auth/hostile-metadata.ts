import type { Hostile } from "./hostile.ts";
import type { Fields } from "./options.ts";

type Change = (metadata: Fields, elsewhere: string) => Fields;

const UNSAFE = "neither https nor on this machine";
const PKCE = ["code_challenge_methods_supported", "S256"];

/** Documents that say what they should not. */
export const hostileMetadata = {
  ...atEndpoint("authorization_endpoint", "authorize"),
  ...atEndpoint("token_endpoint", "token"),
  ...atEndpoint("registration_endpoint", "register"),
  ...atEndpoint("device_authorization_endpoint", "device"),
  ...atEndpoint("revocation_endpoint", "revoke"),

  "authorize-odd-scheme": at(
    "the authorization endpoint is a:$(x)",
    ["authorization_endpoint a:$(x)", UNSAFE],
    () => ({ authorization_endpoint: "a:$(x)" }),
  ),
  "authorize-not-a-url": at("the authorization endpoint is no URL", ["authorization_endpoint"], () => ({
    authorization_endpoint: "-flag",
  })),
  "authorize-password": at(
    "the authorization endpoint has a password in it",
    ["authorization_endpoint", "has a user name or password in it"],
    () => ({ authorization_endpoint: "https://honest.example:x@attacker.example/authorize" }),
  ),
  "authorize-shell-substitution": inQuery("$(touch pwned)`touch pwned`${IFS}"),
  "authorize-shell-separators": inQuery("a&touch pwned&b|touch pwned;touch pwned>pwned<pwned"),
  "authorize-shell-quotes": inQuery(`"';touch pwned;'"\\" %PATH% ^ !`),
  "authorize-shell-newline": inQuery("a%0Atouch%20pwned%0D%0Ab"),
  "authorize-shell-flag": inQuery("--gpu-launcher=touch pwned"),

  "issuer-trailing-slash": issuer("the issuer has a slash too many", (own) => `${own}/`),
  "issuer-case": issuer("the issuer differs in case", (own) => own.replace("http:", "HTTP:")),
  "issuer-port": issuer("the issuer has another port", (own) => own.replace(/:\d+$/, ":1")),
  "issuer-without-port": issuer("the issuer has no port", (own) => own.replace(/:\d+$/, "")),
  "issuer-other": issuer("the issuer is somebody else", () => "https://honest.example"),
  "issuer-missing": at("there is no issuer", ["lacks issuer"], () => ({ issuer: undefined })),
  "mix-up": at(
    "an honest issuer and login page, but the code goes to the attacker",
    ["calls itself https://honest.example (issuer)", "nothing was sent to it"],
    (_metadata, elsewhere) => ({
      issuer: "https://honest.example",
      authorization_endpoint: "https://honest.example/authorize",
      token_endpoint: `${elsewhere}/token`,
    }),
  ),

  "pkce-absent": at("no word of PKCE", PKCE, () => ({ code_challenge_methods_supported: undefined })),
  "pkce-plain": at("only the plain code challenge", PKCE, () => ({
    code_challenge_methods_supported: ["plain"],
  })),

  "resource-other-origin": resource(
    "the metadata is about a resource of another origin",
    "https://honest.example/mcp (resource)",
    () => "https://honest.example/mcp",
  ),
  "resource-other-path": resource("the metadata is about another path", "/other (resource)", (own) =>
    own.replace("/mcp", "/other"),
  ),
  "resource-prefix": resource(
    "the resource is a prefix of the path, but not at a slash",
    "/mc (resource)",
    (own) => own.slice(0, -1),
  ),
  "authorization-server-scheme": servers("the authorization server is a file", "file:///etc/passwd"),
  "authorization-server-http": servers("the authorization server is plain http", "http://attacker.example"),
} satisfies Record<string, Hostile>;

function at(what: string, says: string[], change: Change): Hostile {
  return {
    what,
    says,
    stopsAt: "discovery",
    options: (elsewhere) => ({
      auth: { alter: { metadata: (metadata) => ({ ...metadata, ...change(metadata, elsewhere) }) } },
    }),
  };
}

/** An endpoint that is nothing to open and nothing to send to. */
function atEndpoint<Name extends string>(
  field: string,
  name: Name,
): Record<`${Name}-${"javascript" | "file" | "data" | "http"}`, Hostile> {
  const to = (url: string): Hostile => at(`${field} is ${url}`, [field, "https"], () => ({ [field]: url }));
  return {
    [`${name}-javascript`]: to("javascript:alert(document.domain)//"),
    [`${name}-file`]: to("file:///bin/sh"),
    [`${name}-data`]: to("data:text/html,<script>alert(1)</script>"),
    [`${name}-http`]: to("http://attacker.example/endpoint"),
  } as Record<`${Name}-${"javascript" | "file" | "data" | "http"}`, Hostile>;
}

/** A page that may be opened, as one argument and without a shell. */
function inQuery(text: string): Hostile {
  const change: Change = ({ authorization_endpoint: own }) => ({
    authorization_endpoint: `${String(own)}?x=${text}`,
  });
  return {
    ...at(`the authorization endpoint has ${JSON.stringify(text)} in its query`, [], change),
    stopsAt: "through",
  };
}

function issuer(what: string, change: (own: string) => string): Hostile {
  const says = ["calls itself", "(issuer)", "nothing was sent to it"];
  return at(what, says, (metadata) => ({ issuer: change(String(metadata["issuer"])) }));
}

function resource(what: string, named: string, change: (own: string) => string): Hostile {
  const metadata = (own: Fields): Fields => ({ ...own, resource: change(String(own["resource"])) });
  const says = [named, "not for http://127.0.0.1"];
  return { what, says, stopsAt: "discovery", options: () => ({ mcp: { metadata, audience: false } }) };
}

function servers(what: string, server: string): Hostile {
  const says = [`${server} (authorization_servers)`, UNSAFE];
  return { what, says, stopsAt: "discovery", options: () => ({ mcp: { authorizationServers: [server] } }) };
}
