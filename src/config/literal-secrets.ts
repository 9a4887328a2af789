import { canonicalJson, sha256 } from "../lib/canonical.ts";
import { isRecord } from "../lib/record.ts";
import { isKnownToken } from "../lib/plain-word.ts";
import { looksSecret, looksSecretParameter } from "../lib/secret-words.ts";
import { valueAt } from "./documents/document.ts";
import type { Path } from "./documents/document.ts";
import { secretInArgument } from "./show/arguments.ts";
import { escapeTemplate, parseTemplate, printReference } from "./template.ts";

/** A value that seems to be a secret and is written in plain text. */
export interface LiteralSecret {
  /** Such as `headers.Authorization` or `args[1]`. */
  field: string;
  /** What a person calls it: `API_KEY`, `--api-key`, `the header Authorization`. */
  label: string;
  /** A name for it, as in `${secret:NAME}`. */
  name: string;
  /** The secret itself, without a scheme such as `Bearer`. Never show it. */
  value: string;
}

/** A field of the entry and its value with references in place of the secrets. */
export interface SecretReplacement {
  path: Path;
  value: unknown;
}

type Place = Pick<LiteralSecret, "field" | "label">;

type Refer = (secret: LiteralSecret) => string;

/** Finds every secret in an entry and replaces it by what `refer` returns. The entry itself does not change. */
export function replaceLiteralSecrets(server: string, written: unknown, refer: Refer): SecretReplacement[] {
  if (!isRecord(written)) return [];
  const owner = secretOwner(server);
  const named = withDistinctNames(refer);
  return [
    ...inEnv(written["env"], owner, named),
    ...inHeaders(written["headers"], owner, named),
    ...inArgs(written["args"], owner, named),
    ...inOAuth(written["oauth"], owner, named),
    ...inUrl(written["url"], owner, named),
  ];
}

/** A copy of the entry with the replacements in place. */
export function withReplacements<T>(written: T, replacements: readonly SecretReplacement[]): T {
  const copy = structuredClone(written);
  for (const { path, value } of replacements) {
    const container = valueAt(copy, path.slice(0, -1));
    if (isRecord(container)) container[String(path.at(-1))] = value;
  }
  return copy;
}

/** The secrets of an entry. */
export function literalSecrets(server: string, written: unknown): LiteralSecret[] {
  const found: LiteralSecret[] = [];
  replaceLiteralSecrets(server, written, (secret) => {
    found.push(secret);
    return "";
  });
  return found;
}

/**
 * The part of a secret's name that stands for a server. Different servers have different ones: `svc-one` is `SVC_ONE`,
 * and `svc.one` or `svc_one` get a suffix.
 */
export function secretOwner(server: string): string {
  const words = server.trim().replaceAll(/\s+/g, "-");
  const plain = words
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, "_")
    .replaceAll(/^_+|_+$/g, "");
  const isReversible = /^[a-z0-9]+(-[a-z0-9]+)*$/i.test(words);
  if (isReversible) return plain;
  const suffix = sha256(words.toLowerCase()).slice(0, 6).toUpperCase();
  return [plain, suffix].filter(Boolean).join("_");
}

/** Two secrets of one entry never share a name. */
function withDistinctNames(refer: Refer): Refer {
  const values = new Map<string, string>();
  return (secret) => {
    let { name } = secret;
    for (let count = 2; values.has(name) && values.get(name) !== secret.value; count++)
      name = `${secret.name}_${count}`;
    values.set(name, secret.value);
    return refer({ ...secret, name });
  };
}

function inEnv(env: unknown, owner: string, refer: Refer): SecretReplacement[] {
  return members(env).flatMap(([key, value]) => {
    if (typeof value !== "string") return [];
    const field = `env.${key}`;
    const replaced =
      looksSecret(key) || isKnownToken(value)
        ? withoutLiterals(value, { field, label: key, name: constantCase(key) }, refer)
        : withoutCredentials(value, { field, label: key }, `${owner}_${constantCase(key)}`, refer);
    return replaced === value ? [] : [{ path: ["env", key], value: replaced }];
  });
}

function inHeaders(headers: unknown, owner: string, refer: Refer): SecretReplacement[] {
  return members(headers).flatMap(([key, text]) => {
    if (typeof text !== "string") return [];
    const [, scheme = "", value = text] = /^((?:Bearer|Basic|Token) +)(.+)$/is.exec(text) ?? [];
    if (!looksSecret(key) && !isKnownToken(value)) return [];
    const name = `${owner}_${/^authorization$/i.test(key) ? "TOKEN" : constantCase(key)}`;
    const about = { field: `headers.${key}`, label: `the header ${key}`, name };
    const replaced = scheme + withoutLiterals(value, about, refer);
    return replaced === text ? [] : [{ path: ["headers", key], value: replaced }];
  });
}

function inArgs(args: unknown, owner: string, refer: Refer): SecretReplacement[] {
  if (!Array.isArray(args) || !args.every((word) => typeof word === "string")) return [];
  const words = args.map((word, index) => {
    const field = `args[${index}]`;
    const value = secretInArgument(args, index);
    if (value === undefined) {
      const [, option = "", given = word] = /^(--?[\w.-]+=)(.*)$/s.exec(word) ?? [];
      const label = option === "" ? field : optionLabel(option);
      return isKnownToken(given)
        ? option + withoutLiterals(given, { field, label, name: `${owner}_TOKEN` }, refer)
        : option + withoutCredentials(given, { field, label }, owner, refer);
    }
    const rest = word.slice(0, word.length - value.length);
    const option = rest === "" ? args[index - 1] : rest;
    const about = { field, label: optionLabel(option), name: `${owner}_${optionName(option)}` };
    return rest + withoutLiterals(value, about, refer);
  });
  return words.some((word, index) => word !== args[index]) ? [{ path: ["args"], value: words }] : [];
}

/** `--token=` as `--token`. */
function optionLabel(option = ""): string {
  return option.replace(/[=:\s]+$/, "");
}

/** The last name in `--token`, `--token=` or `--env=API_KEY=`. */
function optionName(option = ""): string {
  const last = option.replace(/=$/, "").split("=").at(-1) ?? "";
  return (/^[\w.-]+$/.test(last) && constantCase(last)) || "TOKEN";
}

function inOAuth(oauth: unknown, owner: string, refer: Refer): SecretReplacement[] {
  if (!isRecord(oauth)) return [];
  const { clientSecret, privateKey, assertion, identityProvider } = oauth;
  const provider = isRecord(identityProvider) ? identityProvider["clientSecret"] : undefined;
  const fields: [path: string[], value: unknown, name: string][] = [
    [["clientSecret"], clientSecret, "CLIENT_SECRET"],
    [["privateKey"], privateKey, "PRIVATE_KEY"],
    [["assertion"], assertion, "ASSERTION"],
    [["identityProvider", "clientSecret"], provider, "IDP_CLIENT_SECRET"],
  ];
  return fields.flatMap(([inner, value, word]) => {
    if (typeof value !== "string") return [];
    const path = ["oauth", ...inner];
    const field = path.join(".");
    const replaced = withoutLiterals(value, { field, label: field, name: `${owner}_${word}` }, refer);
    return replaced === value ? [] : [{ path, value: replaced }];
  });
}

function inUrl(url: unknown, owner: string, refer: Refer): SecretReplacement[] {
  if (typeof url !== "string") return [];
  const replaced = withoutParameters(url, { field: "url", label: "url" }, owner, refer);
  return replaced === url ? [] : [{ path: ["url"], value: replaced }];
}

/** A URL or connection string without its password and its secret parameters; other text as it is. */
function withoutCredentials(text: string, about: Place, owner: string, refer: Refer): string {
  const [, start = "", value, rest = ""] =
    /^([a-z][a-z0-9+.-]*:\/\/[^/?#\s:@]*:)([^\s?#]+)(@.*)$/is.exec(text) ?? [];
  if (value !== undefined) {
    const label = `the password in ${about.label}`;
    const password = withoutLiterals(value, { ...about, label, name: `${owner}_PASSWORD` }, refer);
    return start + password + withoutParameters(rest, about, owner, refer);
  }
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? withoutParameters(text, about, owner, refer) : text;
}

function withoutParameters(url: string, { field, label }: Place, owner: string, refer: Refer): string {
  return url.replaceAll(/([?&])([^=&#?]+)=([^&#]*)/g, (whole, start: string, key: string, value: string) => {
    if (!looksSecretParameter(key)) return whole;
    const about = { field, label: `${key} in ${label}`, name: `${owner}_${constantCase(key)}` };
    return `${start}${key}=${withoutLiterals(value, about, refer)}`;
  });
}

/**
 * A secret without references as a whole; otherwise the defaults of its references, and tokens between them. A default
 * that is one short word, such as `none`, is none.
 */
function withoutLiterals(text: string, secret: Omit<LiteralSecret, "value">, refer: Refer): string {
  const parts = parseTemplate(text);
  if (parts.every((part) => typeof part === "string"))
    return text === "" ? text : refer({ ...secret, value: text });
  const replaced = parts.map((part) => {
    if (typeof part === "string")
      return isKnownToken(part) ? refer({ ...secret, value: part }) : escapeTemplate(part);
    const { fallback } = part;
    if (fallback === undefined || /^[A-Za-z]{0,8}$/.test(fallback)) return printReference(part);
    return printReference({ ...part, fallback: withoutLiterals(fallback, secret, refer) });
  });
  const result = replaced.join("");
  return canonicalJson(parseTemplate(result)) === canonicalJson(parts) ? text : result;
}

function members(value: unknown): [string, unknown][] {
  return isRecord(value) ? Object.entries(value) : [];
}

function constantCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/[^A-Za-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "")
    .toUpperCase();
}
