import { PlugboardError, isPlugboardError } from "../errors.ts";
import { hidden } from "../lib/secret-words.ts";
import { SecretSearch } from "./secret-search.ts";
import { copyExact } from "../lib/exact-json.ts";

const maxRemembered = 32;
/** Deeper values of a server are not passed on: nobody can read them. */
const maxDepth = 64;
const maxCauses = 10;

/**
 * Removes credentials from a server's output before it becomes part of an error, event or log, because servers echo
 * what they are sent. Results are the server's own data and are left alone.
 */
export class Redaction {
  readonly #configured: readonly string[];
  readonly #current: () => readonly string[];
  readonly #sent: Set<string>;
  #known: { values: readonly string[]; search: SecretSearch } = { values: [], search: new SecretSearch([]) };

  /** `sent` holds the credentials that an earlier connection to the same server remembered. */
  constructor(
    configured: readonly string[] = [],
    current: () => readonly string[] = () => [],
    sent = new Set<string>(),
  ) {
    this.#configured = configured;
    this.#current = current;
    this.#sent = sent;
  }

  /** Remembers a credential that is being sent: the server may echo it long after it was replaced. */
  remember(credential: string): void {
    this.#sent.add(credential);
    if (this.#sent.size <= maxRemembered) return;
    for (const oldest of this.#sent) {
      this.#sent.delete(oldest);
      break;
    }
  }

  text(text: string): string {
    return this.#search().hide(text);
  }

  /** Redacts all strings in a JSON value. Copies only what changes. */
  value<T>(value: T): T {
    return this.#clean(value, 0) as T;
  }

  /** Returns an error without secrets in any property; the same error if it has none. */
  error(error: unknown): unknown {
    if (!(error instanceof Error) || this.#search().isEmpty || this.#isClean(error)) return error;
    const message = this.text(error.message);
    if (!isPlugboardError(error)) return new Error(message);
    const { data, hint, advice } = error;
    const clean = {
      data: this.value(data),
      hint: this.text(hint),
      advice: this.value(advice),
      cause: undefined,
    };
    return new PlugboardError(error.code, message, Object.assign({}, error, clean));
  }

  /** Looks at the message and every property, those of the causes included. A stack repeats only messages. */
  #isClean(error: Error): boolean {
    const open: unknown[] = [error];
    for (let seen = 0; open.length > 0; seen++) {
      const one = open.pop();
      if (seen > maxCauses) return false;
      if (!(one instanceof Error)) {
        if (this.value(one) !== one) return false;
        continue;
      }
      const { message, cause, ...properties } = one as Error & Record<string, unknown>;
      if (this.text(message) !== message || this.value(properties) !== properties) return false;
      open.push(cause, ...(one instanceof AggregateError ? (one.errors as unknown[]) : []));
    }
    return true;
  }

  #clean(value: unknown, depth: number): unknown {
    if (typeof value === "string") return this.text(value);
    if (typeof value !== "object" || value === null) return value;
    if (depth > maxDepth) return hidden;
    if (Array.isArray(value)) {
      const items = value.map((item) => this.#clean(item, depth + 1));
      return items.some((item, index) => item !== value[index])
        ? copyExact(value, items)
        : (value as unknown);
    }
    // Anything but JSON, such as a socket, may lead anywhere.
    if (depth > 0 && ![Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null))
      return hidden;
    const members = Object.entries(value).map(
      ([key, member]) => [this.text(key), this.#clean(member, depth + 1)] as const,
    );
    const isSame = members.every(
      ([key, member]) => Object.hasOwn(value, key) && member === (value as Record<string, unknown>)[key],
    );
    return isSame ? value : copyExact(value, Object.fromEntries(members));
  }

  #search(): SecretSearch {
    const { values } = this.#known;
    const now = [...this.#configured, ...this.#current(), ...this.#sent];
    const isSame = now.length === values.length && now.every((value, index) => value === values[index]);
    if (!isSame) this.#known = { values: now, search: new SecretSearch(now) };
    return this.#known.search;
  }
}
