import { hasInvisible } from "../lib/printable.ts";
import { shownReference } from "./show/references.ts";
import { parseTemplate } from "./template.ts";

/** Where a URL really leads, which is not always where it seems to. */
export interface Address {
  /** The host and port as Plugboard will use them (in punycode); undefined if a value that is not known yet decides. */
  host?: string;
  /** The references that choose the host, or that can replace `host`. */
  chosenBy: string[];
  /** Why a reader may take the URL for that of another host. */
  deceptions: string[];
}

/** Finds the host with the parser that the connection uses. Nothing is looked up. */
export function addressOf(url: string): Address {
  const parts = parseTemplate(url);
  const at = parts.findIndex((part) => typeof part !== "string");
  const start = at === -1 ? url : typeof parts[0] === "string" ? parts[0] : "";
  if (at === -1 || endsAuthority(start)) return known(start, url, []);
  const references = parts.filter((part) => typeof part !== "string");
  const chosenBy = references.map(({ kind, name }) => shownReference({ kind, name }));
  const defaults = parts.map((part) => (typeof part === "string" ? part : (part.fallback ?? "${")));
  // A default with references of its own, or none at all: only the values themselves tell.
  if (defaults.some((text) => text.includes("${"))) return { chosenBy, deceptions: [] };
  return known(defaults.join(""), url, chosenBy);
}

/** For example `127.0.0.1:9`, or `api.example (unless ${API} is set)`. */
export function hostLine({ host, chosenBy }: Address): string {
  const names = chosenBy.join(" and ");
  if (chosenBy.length === 0) return host ?? "(not a valid URL)";
  return host === undefined ? `(chosen by ${names})` : `${host} (unless ${names} is set)`;
}

function known(text: string, written: string, chosenBy: string[]): Address {
  const url = URL.parse(text);
  if (!url) return { chosenBy, deceptions: [] };
  return { host: url.host, chosenBy, deceptions: deceptionsOf(url, written) };
}

function deceptionsOf(url: URL, written: string): string[] {
  const { start, end } = authorityOf(written);
  const host = written.slice(start, end);
  const odd = [...new Set(host.match(/[^\x20-\x7e]/gu))].slice(0, mostLetters).map(codePoint);
  const found: [boolean, string][] = [
    [url.username !== "" || url.password !== "", "the part before `@` is a user name, not the host"],
    [
      seemsToNameHost(written.slice(end)),
      "the part after `@` is not the host, because the host ended before it",
    ],
    [written.includes("\\"), "a backslash in the URL means `/`"],
    [hasInvisible(written), "the URL contains control or invisible characters"],
    [
      url.hostname.split(".").some((label) => label.startsWith("xn--")),
      `the host uses letters that can look like others${odd.length > 0 ? `: ${odd.join(", ")}` : ""}`,
    ],
  ];
  const reasons = found.filter(([isTrue]) => isTrue).map(([, reason]) => reason);
  const isPlain = written.toLowerCase().includes(url.hostname.replace(/^\[|\]$/g, ""));
  if (reasons.length > 0 || isPlain) return reasons;
  // A reference in it may have a secret as its default.
  const how = host.includes("${") ? "" : `: as ${escaped(host)}, which means ${url.host}`;
  return [`the URL writes the host in another way${how}`];
}

const mostLetters = 5;
const mostCharacters = 100;

function codePoint(letter: string): string {
  return `U+${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** With every letter that is not plain as its code point, because the plain look is what deceives. */
function escaped(text: string): string {
  const all = text.replaceAll(
    /[^\x21-\x7e]/gu,
    (letter) => `\\u{${(letter.codePointAt(0) ?? 0).toString(16)}}`,
  );
  return all.length > mostCharacters ? `${all.slice(0, mostCharacters)}…` : all;
}

/** True if an `@` is followed by what looks like a host. Looks at each part once, however many `@` it has. */
function seemsToNameHost(rest: string): boolean {
  return rest.split(/[\\/?#]/).some((part) => {
    const at = part.indexOf("@");
    return at !== -1 && /\.\p{L}/u.test(part.slice(at));
  });
}

/** Where user name, host and port are in a URL as written: until the first slash of either kind, `?` or `#`. */
function authorityOf(url: string): { start: number; end: number } {
  // A reference may contain any of them.
  const written = url.replaceAll(referencePattern, (reference) => "x".repeat(reference.length));
  const start = /^[\s\p{Cc}]*[a-z][a-z0-9+.\t\n\r-]*:[\t\n\r\\/]*/iu.exec(written)?.[0].length ?? 0;
  const length = written.slice(start).search(/[\\/?#]/);
  return { start, end: length === -1 ? written.length : start + length };
}

const referencePattern = /\$\{(?:(?:secret|file|cmd):[^{}]+|[A-Za-z_]\w*(?::-[^{}]*)?)\}/g;

function endsAuthority(text: string): boolean {
  return /^[\s\p{Cc}]*https?:/iu.test(text) && authorityOf(text).end < text.length;
}
