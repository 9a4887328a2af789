// Not "undici": Bun replaces that name by an imitation that cannot send a request.
import { errors } from "undici/index.js";
import { isPlugboardError, PlugboardError } from "../../../errors.ts";
import { printable } from "../../../lib/printable.ts";

export interface Where {
  server: string;
  url: URL;
  proxy?: string | undefined;
  /** True if the request may have reached the server. */
  sent: boolean;
  /** True if a response had begun. */
  begun: boolean;
}

type Code = "not-responding" | "connection-lost" | "unexpected-response";

/** Turns a failure below HTTP into a readable error, by its system error code. */
export function networkError(error: unknown, where: Where): PlugboardError {
  if (isPlugboardError(error)) return error;
  const code = systemCode(error);
  const host = where.url.host;
  const make = (kind: Code, what: string, hint?: string) =>
    new PlugboardError(kind, `"${where.server}" ${what}.`, {
      server: where.server,
      executed: where.sent ? "maybe" : "no",
      data: { sent: where.sent, ...(code !== undefined && { cause: code }) },
      cause: error,
      hint,
    });
  const certificate = code === undefined ? undefined : certificateProblems[code];
  if (certificate !== undefined) {
    const [problem, hint] = certificate;
    return make(
      "unexpected-response",
      `is not trusted: the certificate of ${host} ${problem} (${code})`,
      hint,
    );
  }
  if (code === "UND_ERR_INVALID_ARG") {
    const message = `A header or the URL configured for "${where.server}" cannot be sent: ${text(error)}.`;
    const hint = "Header values must not contain line breaks or characters outside Latin-1.";
    return new PlugboardError("config-invalid", message, { server: where.server, cause: error, hint });
  }
  if (code !== undefined && /^(EPROTO$|ERR_SSL_|ERR_TLS_)/.test(code)) {
    const hint =
      "Check that the URL's scheme and port are right, and whether the server requires `network.cert` and `network.key`.";
    return make("unexpected-response", `failed the TLS handshake at ${host} (${code})`, hint);
  }
  if (code === "UND_ERR_HEADERS_OVERFLOW") {
    return make("unexpected-response", `sent more than 16 kB of headers from ${host}`);
  }
  if (error instanceof errors.HTTPParserError && !where.begun) {
    return make("unexpected-response", `sent something that is not HTTP from ${host}${inBrackets(code)}`);
  }
  if (where.sent) {
    return make(
      "connection-lost",
      `broke the connection to ${host} before its answer was complete${inBrackets(code)}`,
    );
  }
  const through = where.proxy === undefined ? "" : ` through the proxy ${where.proxy}`;
  const [what, hint] = unreachable(code, where, error);
  return make("not-responding", `cannot be reached${through}: ${what}`, hint);
}

const trust =
  "If you trust its issuer, save the issuer's certificate to a file and set `network.ca` to its path.";
const certificateProblems: Partial<Record<string, readonly [problem: string, hint: string]>> = {
  CERT_HAS_EXPIRED: ["has expired", "The server's operator has to renew it; check this machine's clock too."],
  CERT_NOT_YET_VALID: ["is not valid yet", "Check this machine's clock."],
  CERT_REVOKED: ["was revoked", "Ask the server's operator."],
  DEPTH_ZERO_SELF_SIGNED_CERT: ["is self-signed", trust],
  SELF_SIGNED_CERT_IN_CHAIN: ["comes from an unknown authority (self-signed)", trust],
  UNABLE_TO_GET_ISSUER_CERT: ["comes from an unknown authority", trust],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: ["comes from an unknown authority", trust],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: ["comes from an unknown authority", trust],
  CERT_UNTRUSTED: ["is not trusted", trust],
  ERR_TLS_CERT_ALTNAME_INVALID: [
    "was issued for another host name",
    "Use the name in the certificate in `url`.",
  ],
};

function unreachable(
  code: string | undefined,
  where: Where,
  error: unknown,
): readonly [what: string, hint: string] {
  const { hostname, host } = where.url;
  switch (code) {
    case "ECONNREFUSED":
      return [
        `nothing accepts connections at ${where.proxy ?? host}`,
        "Start the server, or check the host and port in its `url`.",
      ];
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return [
        `the name ${where.proxy ?? hostname} cannot be resolved (${code})`,
        "Check the host in `url`, and the network.",
      ];
    case "UND_ERR_CONNECT_TIMEOUT":
    case "ETIMEDOUT":
      return [
        `${where.proxy ?? host} did not accept the connection in time`,
        "Check the network, a VPN or a proxy.",
      ];
    case "UND_ERR_ABORTED":
      return [
        `the proxy refused to connect to ${host} (${text(error)})`,
        "Check `network.proxy` and its credentials.",
      ];
    default:
      return [
        `the connection to ${where.proxy ?? host} failed${inBrackets(code)}`,
        "Check the URL and the network.",
      ];
  }
}

/** The code of the error or its cause; if several addresses were tried, the code of the first. */
function systemCode(error: unknown): string | undefined {
  let current = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth++) {
    if ("code" in current && typeof current.code === "string" && current.code !== "UND_ERR_PRX_TLS")
      return current.code;
    current = current instanceof AggregateError ? current.errors[0] : current.cause;
  }
  return undefined;
}

function inBrackets(code: string | undefined): string {
  return code === undefined ? "" : ` (${code})`;
}

function text(error: unknown): string {
  return printable(error instanceof Error ? error.message : String(error), { oneLine: true });
}
