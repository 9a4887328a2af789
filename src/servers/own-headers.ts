import { createHmac } from "node:crypto";
import { looksSecret } from "../lib/secret-words.ts";
import { requestHeaders } from "./request-headers.ts";
import type { RequestHeaders } from "./request-headers.ts";
import type { Target } from "./target.ts";

/**
 * The headers that one user sends to one server, with everything from the handshake on. They give that user a connection,
 * which nobody with other headers shares. Printing or serialising this shows none of them.
 */
export class OwnHeaders {
  /** Equal for equal headers of one hub, and otherwise meaningless. */
  readonly mark: string;
  readonly #headers: RequestHeaders;

  constructor(headers: RequestHeaders, key: Buffer) {
    const sorted = Object.entries(headers).toSorted(([one], [other]) => (one < other ? -1 : 1));
    this.mark = createHmac("sha256", key).update(JSON.stringify(sorted)).digest("base64url").slice(0, 22);
    this.#headers = headers;
  }

  /** The same target with these headers. Own credentials take the place of configured ones, and of a login. */
  addTo(target: Target): void {
    if (!("credentials" in target)) return;
    const own = Object.keys(this.#headers);
    const others = Object.entries(target.headers).filter(([name]) => !own.includes(name.toLowerCase()));
    target.headers = { ...Object.fromEntries(others), ...this.#headers };
    const { kind } = target.credentials;
    if (own.includes("authorization") || (kind === "login" && own.some(looksSecret)))
      target.credentials = { kind: "none" };
  }
}

/** By server; undefined if there are none. Throws `usage-invalid` for headers that no server may be sent this way. */
export function ownHeaders(
  headers: Readonly<Record<string, RequestHeaders>>,
  key: Buffer,
): ReadonlyMap<string, OwnHeaders> | undefined {
  const own = new Map<string, OwnHeaders>();
  for (const [server, written] of Object.entries(headers)) {
    const checked = requestHeaders(written, server);
    if (checked) own.set(server, new OwnHeaders(checked, key));
  }
  return own.size > 0 ? own : undefined;
}
