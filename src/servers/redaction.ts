import { inspect } from "node:util";
import { PlugboardError, isPlugboardError } from "../errors.ts";
import { isRecord } from "../lib/record.ts";
import { hidden } from "../lib/secret-words.ts";

/** Shorter secrets would also match ordinary words. */
const minSecretLength = 4;
/** Fragments of a secret that are at least this long are hidden too, because texts get truncated. */
const minFragmentLength = 12;
/** Longer texts are searched for whole secrets only. */
const maxTextLength = 65_536;
const maxRemembered = 32;

/**
 * Removes credentials from a server's output before it becomes part of an error, event or log, because servers echo
 * what they are sent. Results are the server's own data and are left alone.
 */
export class Redaction {
  readonly #configured: readonly string[];
  readonly #current: () => readonly string[];
  readonly #sent: Set<string>;
  #known: { key: string; secrets: string[] } = { key: "", secrets: [] };

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
    const secrets = this.#secrets();
    const whole = secrets.reduce((clean, secret) => clean.replaceAll(secret, hidden), text);
    return whole.length > maxTextLength ? whole : withoutFragments(whole, secrets);
  }

  /** Redacts all strings in a JSON value. Copies only what changes. */
  value<T>(value: T): T {
    return this.#clean(value) as T;
  }

  /** Returns an error without secrets in any property; the same error if it has none. */
  error(error: unknown): unknown {
    if (!(error instanceof Error) || this.#secrets().length === 0 || this.#isClean(error)) return error;
    const message = this.text(error.message);
    if (!isPlugboardError(error)) return new Error(message);
    const { data, hint } = error;
    const clean = { data: this.value(data), hint: this.text(hint), cause: undefined };
    return new PlugboardError(error.code, message, Object.assign({}, error, clean));
  }

  #isClean(error: Error): boolean {
    const all = inspect(error, { depth: 10, maxStringLength: maxTextLength, maxArrayLength: 1_000 });
    return this.text(all) === all;
  }

  #clean(value: unknown): unknown {
    if (typeof value === "string") return this.text(value);
    if (Array.isArray(value)) {
      const items = value.map((item) => this.#clean(item));
      return items.some((item, index) => item !== value[index]) ? items : (value as unknown);
    }
    if (!isRecord(value)) return value;
    const members = Object.entries(value).map(
      ([key, member]) => [this.text(key), this.#clean(member)] as const,
    );
    const isSame = members.every(([key, member]) => Object.hasOwn(value, key) && member === value[key]);
    return isSame ? value : Object.fromEntries(members);
  }

  /** Longest first, so that a shorter secret does not split a longer one. */
  #secrets(): string[] {
    const values = [...this.#configured, ...this.#current(), ...this.#sent];
    const key = values.join("\n");
    if (key !== this.#known.key) this.#known = { key, secrets: formsOf(values) };
    return this.#known.secrets;
  }
}

function formsOf(values: readonly string[]): string[] {
  const all = values.flatMap(parts);
  const forms = all.flatMap((secret) => [secret, encoded(secret), JSON.stringify(secret).slice(1, -1)]);
  return [...new Set(forms)]
    .filter(({ length }) => length >= minSecretLength)
    .sort((a, b) => b.length - a.length);
}

/** The secrets in a header value: the whole value, the part after the scheme and its password, the cookie values. */
function parts(value: string): string[] {
  const [, scheme = "", credential = ""] = /^(\S+) (\S+)$/.exec(value) ?? [];
  const basic = /^basic$/i.test(scheme) ? Buffer.from(credential, "base64").toString("utf8") : "";
  const password = basic.slice(basic.indexOf(":") + 1);
  const pairs = value.includes("=") ? value.split(/;\s*/) : [];
  return [value, credential, basic, password, ...pairs.map((pair) => pair.slice(pair.indexOf("=") + 1))];
}

function encoded(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : text;
}

function withoutFragments(text: string, secrets: readonly string[]): string {
  const marked = new Set<number>();
  for (const secret of secrets.filter(isOpaque)) {
    for (let at = 0; at + minFragmentLength <= secret.length; at++) {
      const fragment = secret.slice(at, at + minFragmentLength);
      for (let found = text.indexOf(fragment); found !== -1; found = text.indexOf(fragment, found + 1))
        for (let index = found; index < found + minFragmentLength; index++) marked.add(index);
    }
  }
  if (marked.size === 0) return text;
  let clean = "";
  for (let index = 0; index < text.length; index++) {
    if (!marked.has(index)) clean += text[index];
    else if (!marked.has(index - 1)) clean += hidden;
  }
  return clean;
}

/** True for a token; false for words, URLs and media types, whose fragments occur in many texts. */
function isOpaque(secret: string): boolean {
  return secret.length >= 16 && /\d/.test(secret) && /[a-z]/i.test(secret) && !/[\s:;,]/.test(secret);
}
