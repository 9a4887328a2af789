import type { ServerAuth } from "../auth/server-auth.ts";
import type { ServerConfig } from "../config/server-schema.ts";
import { canonicalJson } from "../lib/canonical.ts";

type Headers = Readonly<Record<string, string>>;

/** Requests that were sent together are refused together; for this long a change counts for all of them. */
const togetherMs = 10_000;

/** Configured headers whose values can change (a file, a variable, a secret). They are read again after a 401. */
export class ConfiguredHeaders implements ServerAuth {
  readonly #read: () => Promise<Headers>;
  readonly #now: () => number;
  #headers: Headers;
  #changedAt = -Infinity;
  #reading: Promise<Headers> | undefined;

  constructor(headers: Headers, read: () => Promise<Headers>, now: () => number) {
    this.#headers = headers;
    this.#read = read;
    this.#now = now;
  }

  async headers(): Promise<Headers> {
    return this.#headers;
  }

  secrets(): string[] {
    return Object.values(this.#headers);
  }

  async renew(): Promise<boolean> {
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    const fresh = await this.#reading;
    if (canonicalJson(fresh) !== canonicalJson(this.#headers)) {
      this.#headers = fresh;
      this.#changedAt = this.#now();
    }
    return this.#now() - this.#changedAt < togetherMs;
  }
}

/** True when reading the headers again can give other values. */
export function canChange({ headers = {}, headersFromEnv, bearerTokenEnv }: ServerConfig): boolean {
  const isReference = Object.values(headers).some((value) => value.includes("${"));
  return isReference || headersFromEnv !== undefined || bearerTokenEnv !== undefined;
}
